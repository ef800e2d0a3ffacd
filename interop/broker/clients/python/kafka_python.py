"""kafka-python."""

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import OffsetSpec

from records import PARTITIONS, SECONDS, key, main, numbers, show, value

PREFERRED = 0


def admin(bootstrap):
    return KafkaAdminClient(bootstrap_servers=bootstrap)


def create(bootstrap, topic, partitions, replicas):
    wanted = {"num_partitions": int(partitions), "replication_factor": int(replicas)}
    admin(bootstrap).create_topics({topic: wanted}, timeout_ms=1000 * SECONDS)


def produce(bootstrap, topic, codec, first, count, idempotence):
    producer = KafkaProducer(
        bootstrap_servers=bootstrap,
        acks="all",
        compression_type=None if codec == "none" else codec,
        enable_idempotence=idempotence == "idempotent",
    )
    sent = [
        producer.send(topic, value(number), key(number), partition=number % PARTITIONS)
        for number in numbers(first, count)
    ]
    for record in sent:
        record.get(SECONDS)
    producer.close()


def consume(bootstrap, topic, count):
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap,
        group_id=None,
        consumer_timeout_ms=1000 * SECONDS,
    )
    partitions = [TopicPartition(topic, index) for index in range(PARTITIONS)]
    consumer.assign(partitions)
    consumer.seek_to_beginning(*partitions)
    for _ in range(int(count)):
        record = next(consumer)
        show(record.partition, record.offset, record.key, record.value)
    consumer.close()


def offsets(bootstrap, topic):
    client = admin(bootstrap)
    partitions = [TopicPartition(topic, index) for index in range(PARTITIONS)]

    def ask(spec):
        return client.list_partition_offsets({partition: spec for partition in partitions})

    first, end = ask(OffsetSpec.EARLIEST), ask(OffsetSpec.LATEST)
    for partition in partitions:
        print(partition.partition, first[partition].offset, end[partition].offset)


def elect(bootstrap, topic, partition):
    admin(bootstrap).elect_leaders(PREFERRED, {topic: [int(partition)]})


def delete(bootstrap, topic):
    admin(bootstrap).delete_topics([topic], timeout_ms=1000 * SECONDS)


main({
    "create": create,
    "produce": produce,
    "consume": consume,
    "offsets": offsets,
    "elect": elect,
    "delete": delete,
})
