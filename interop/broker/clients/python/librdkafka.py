"""librdkafka, by confluent-kafka."""

from confluent_kafka import (
    Consumer,
    ElectionType,
    IsolationLevel,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from records import PARTITIONS, SECONDS, key, main, numbers, show, value


def create(bootstrap, topic, partitions, replicas):
    admin = AdminClient({"bootstrap.servers": bootstrap})
    wanted = NewTopic(topic, int(partitions), int(replicas))
    for done in admin.create_topics([wanted], operation_timeout=SECONDS).values():
        done.result(SECONDS)


def produce(bootstrap, topic, codec, first, count, idempotence):
    failed = []
    producer = Producer({
        "bootstrap.servers": bootstrap,
        "acks": "all",
        "compression.type": codec,
        "enable.idempotence": idempotence == "idempotent",
        "on_delivery": lambda error, _: error and failed.append(error),
    })
    for number in numbers(first, count):
        producer.produce(topic, value(number), key(number), partition=number % PARTITIONS)
        producer.poll(0)
    if producer.flush(SECONDS) or failed:
        raise RuntimeError(f"records were not sent: {failed}")


def consume(bootstrap, topic, count):
    consumer = Consumer({
        "bootstrap.servers": bootstrap,
        # It wants one, and has no use for it where partitions are assigned and nothing is committed.
        "group.id": "none",
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
    })
    consumer.assign([TopicPartition(topic, index, 0) for index in range(PARTITIONS)])
    for _ in range(int(count)):
        message = consumer.poll(SECONDS)
        if message is None or message.error():
            raise RuntimeError(message and message.error() or f"nothing for {SECONDS} s")
        show(message.partition(), message.offset(), message.key(), message.value())
    consumer.close()


def offsets(bootstrap, topic):
    admin = AdminClient({"bootstrap.servers": bootstrap})

    def ask(spec):
        partitions = [TopicPartition(topic, index) for index in range(PARTITIONS)]
        answers = admin.list_offsets(
            {partition: spec for partition in partitions},
            isolation_level=IsolationLevel.READ_COMMITTED,
        )
        return [answers[partition].result(SECONDS).offset for partition in partitions]

    rows = zip(ask(OffsetSpec.earliest()), ask(OffsetSpec.latest()))
    for index, (first, end) in enumerate(rows):
        print(index, first, end)


def elect(bootstrap, topic, partition):
    admin = AdminClient({"bootstrap.servers": bootstrap})
    wanted = TopicPartition(topic, int(partition))
    for error in admin.elect_leaders(ElectionType.PREFERRED, [wanted]).result(SECONDS).values():
        if error is not None:
            raise KafkaException(error)


def delete(bootstrap, topic):
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for done in admin.delete_topics([topic], operation_timeout=SECONDS).values():
        done.result(SECONDS)


main({
    "create": create,
    "produce": produce,
    "consume": consume,
    "offsets": offsets,
    "elect": elect,
    "delete": delete,
})
