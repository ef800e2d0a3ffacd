"""What an ordinary application does, with librdkafka: python librdkafka.py BOOTSTRAP TOPIC RECORDS"""

import sys

from confluent_kafka import Consumer, ElectionType, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

SECONDS = 60


def administer(bootstrap, topic):
    admin = AdminClient({"bootstrap.servers": bootstrap, "client.id": "rdkafka-admin"})
    for done in admin.create_topics([NewTopic(topic, 2, 1)]).values():
        done.result(SECONDS)
    admin.list_topics(topic, timeout=SECONDS)
    elected = admin.elect_leaders(ElectionType.PREFERRED, [TopicPartition(topic, 0)])
    for error in elected.result(SECONDS).values():
        # With one broker it leads already.
        if error and error.code() != KafkaError.ELECTION_NOT_NEEDED:
            raise RuntimeError(error)


def produce(bootstrap, topic, records):
    for acks in ["all", "0"]:
        producer = Producer({
            "bootstrap.servers": bootstrap,
            "client.id": f"rdkafka-producer-{acks}",
            "acks": acks,
            "compression.type": "lz4" if acks == "all" else "none",
        })
        for i in range(records):
            producer.produce(topic, f"record {i} ".encode() * (1 + i % 7), partition=i % 2)
        if producer.flush(SECONDS):
            raise RuntimeError("records were not sent")


def consume(bootstrap, topic, records):
    consumer = Consumer({
        "bootstrap.servers": bootstrap,
        "client.id": "rdkafka-consumer",
        "group.id": f"{topic}-group",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    })
    consumer.subscribe([topic])
    consumed = 0
    while consumed < 2 * records:
        message = consumer.poll(SECONDS)
        if message is None:
            raise RuntimeError(f"{consumed} records, then none for {SECONDS} s")
        if message.error():
            raise RuntimeError(message.error())
        consumed += 1
    consumer.commit(asynchronous=False)
    consumer.close()
    return consumed


def main():
    bootstrap, topic, records = sys.argv[1], sys.argv[2], int(sys.argv[3])
    administer(bootstrap, topic)
    produce(bootstrap, topic, records)
    print(consume(bootstrap, topic, records))


main()
