// franz-go: franz OPERATION BOOTSTRAP TOPIC ...
package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"klamm/interop/clients/records"
)

var codecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
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

func client(args records.Args, options ...kgo.Opt) *kgo.Client {
	seeds := kgo.SeedBrokers(strings.Split(args.Bootstrap, ",")...)
	made, err := kgo.NewClient(append(options, seeds)...)
	records.Check(err)
	return made
}

func deadline() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), records.Seconds*time.Second)
}

func create(args records.Args) {
	ctx, cancel := deadline()
	defer cancel()
	admin := kadm.NewClient(client(args))
	defer admin.Close()
	partitions, replicas := int32(args.Number(0)), int16(args.Number(1))
	_, err := admin.CreateTopic(ctx, partitions, replicas, nil, args.Topic)
	records.Check(err)
}

func produce(args records.Args) {
	ctx, cancel := deadline()
	defer cancel()
	options := []kgo.Opt{
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerBatchCompression(codecs[args.More[0]]),
	}
	if !args.Idempotent() {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	producer := client(args, options...)
	defer producer.Close()
	var sent []*kgo.Record
	for _, number := range args.Numbers() {
		sent = append(sent, &kgo.Record{
			Topic:     args.Topic,
			Partition: records.Partition(number),
			Key:       records.Key(number),
			Value:     records.Value(number),
		})
	}
	records.Check(producer.ProduceSync(ctx, sent...).FirstErr())
}

func consume(args records.Args) {
	ctx, cancel := deadline()
	defer cancel()
	start := map[int32]kgo.Offset{}
	for index := range int32(records.Partitions) {
		start[index] = kgo.NewOffset().AtStart()
	}
	consumer := client(args, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{args.Topic: start}))
	defer consumer.Close()
	for left := args.Number(0); left > 0; {
		fetches := consumer.PollRecords(ctx, left)
		records.Check(fetches.Err())
		fetches.EachRecord(func(record *kgo.Record) {
			records.Show(record.Partition, record.Offset, record.Key, record.Value)
		})
		left -= fetches.NumRecords()
	}
}

func offsets(args records.Args) {
	ctx, cancel := deadline()
	defer cancel()
	admin := kadm.NewClient(client(args))
	defer admin.Close()
	first, err := admin.ListStartOffsets(ctx, args.Topic)
	records.Check(err)
	records.Check(first.Error())
	end, err := admin.ListEndOffsets(ctx, args.Topic)
	records.Check(err)
	records.Check(end.Error())
	for index := range int32(records.Partitions) {
		first, _ := first.Lookup(args.Topic, index)
		end, _ := end.Lookup(args.Topic, index)
		fmt.Println(index, first.Offset, end.Offset)
	}
}

func elect(args records.Args) {
	ctx, cancel := deadline()
	defer cancel()
	admin := kadm.NewClient(client(args))
	defer admin.Close()
	wanted := kadm.TopicsSet{}
	wanted.Add(args.Topic, int32(args.Number(0)))
	elected, err := admin.ElectLeaders(ctx, kadm.ElectPreferredReplica, wanted)
	records.Check(err)
	for _, partitions := range elected {
		for _, partition := range partitions {
			records.Check(partition.Err)
		}
	}
}

func remove(args records.Args) {
	ctx, cancel := deadline()
	defer cancel()
	admin := kadm.NewClient(client(args))
	defer admin.Close()
	_, err := admin.DeleteTopic(ctx, args.Topic)
	records.Check(err)
}
