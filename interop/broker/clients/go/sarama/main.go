// sarama: sarama OPERATION BOOTSTRAP TOPIC ...
package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/IBM/sarama"

	"klamm/interop/clients/records"
)

var codecs = map[string]sarama.CompressionCodec{
	"none":   sarama.CompressionNone,
	"gzip":   sarama.CompressionGZIP,
	"snappy": sarama.CompressionSnappy,
	"lz4":    sarama.CompressionLZ4,
	"zstd":   sarama.CompressionZSTD,
}

func main() {
	records.Main(map[string]records.Operation{
		"create":  create,
		"produce": produce,
		"consume": consume,
		"offsets": offsets,
		"elect":   elect,
		"delete":  remove,
	})
}

func config() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.MaxVersion
	config.Admin.Timeout = records.Seconds * time.Second
	config.Net.ReadTimeout = records.Seconds * time.Second
	return config
}

func servers(args records.Args) []string {
	return strings.Split(args.Bootstrap, ",")
}

func admin(args records.Args) sarama.ClusterAdmin {
	admin, err := sarama.NewClusterAdmin(servers(args), config())
	records.Check(err)
	return admin
}

func create(args records.Args) {
	admin := admin(args)
	defer admin.Close()
	records.Check(admin.CreateTopic(args.Topic, &sarama.TopicDetail{
		NumPartitions:     int32(args.Number(0)),
		ReplicationFactor: int16(args.Number(1)),
	}, false))
}

func produce(args records.Args) {
	config := config()
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Compression = codecs[args.More[0]]
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.Return.Successes = true
	if args.Idempotent() {
		config.Producer.Idempotent = true
		// It has to be so.
		config.Net.MaxOpenRequests = 1
	}
	producer, err := sarama.NewAsyncProducer(servers(args), config)
	records.Check(err)
	numbers := args.Numbers()
	go func() {
		for _, number := range numbers {
			producer.Input() <- &sarama.ProducerMessage{
				Topic:     args.Topic,
				Partition: records.Partition(number),
				Key:       sarama.ByteEncoder(records.Key(number)),
				Value:     sarama.ByteEncoder(records.Value(number)),
			}
		}
	}()
	for range numbers {
		select {
		case <-producer.Successes():
		case err := <-producer.Errors():
			records.Check(err)
		}
	}
	records.Check(producer.Close())
}

func consume(args records.Args) {
	consumer, err := sarama.NewConsumer(servers(args), config())
	records.Check(err)
	defer consumer.Close()
	all := make(chan *sarama.ConsumerMessage)
	for index := range int32(records.Partitions) {
		partition, err := consumer.ConsumePartition(args.Topic, index, sarama.OffsetOldest)
		records.Check(err)
		go func() {
			for message := range partition.Messages() {
				all <- message
			}
		}()
	}
	for range args.Number(0) {
		message := <-all
		records.Show(message.Partition, message.Offset, message.Key, message.Value)
	}
}

func offsets(args records.Args) {
	client, err := sarama.NewClient(servers(args), config())
	records.Check(err)
	defer client.Close()
	for index := range int32(records.Partitions) {
		first, err := client.GetOffset(args.Topic, index, sarama.OffsetOldest)
		records.Check(err)
		end, err := client.GetOffset(args.Topic, index, sarama.OffsetNewest)
		records.Check(err)
		fmt.Println(index, first, end)
	}
}

func elect(args records.Args) {
	admin := admin(args)
	defer admin.Close()
	wanted := map[string][]int32{args.Topic: {int32(args.Number(0))}}
	elected, err := admin.ElectLeaders(sarama.PreferredElection, wanted)
	records.Check(err)
	for _, partitions := range elected {
		for _, partition := range partitions {
			if partition.ErrorCode != sarama.ErrNoError {
				records.Check(partition.ErrorCode)
			}
		}
	}
}

func remove(args records.Args) {
	admin := admin(args)
	defer admin.Close()
	records.Check(admin.DeleteTopic(args.Topic))
}
