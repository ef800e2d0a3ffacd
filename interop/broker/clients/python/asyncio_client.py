"""aiokafka."""

import asyncio

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from records import PARTITIONS, SECONDS, key, main, numbers, show, value


def partitions_of(topic):
    return [TopicPartition(topic, index) for index in range(PARTITIONS)]


def raise_errors(answer):
    for topic, error, *_ in getattr(answer, "topic_errors", None) or answer.topic_error_codes:
        if error:
            raise RuntimeError(f"{topic}: error {error}")


async def create(bootstrap, topic, partitions, replicas):
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    wanted = NewTopic(topic, int(partitions), int(replicas))
    raise_errors(await admin.create_topics([wanted], timeout_ms=1000 * SECONDS))
    await admin.close()


async def produce(bootstrap, topic, codec, first, count, idempotence):
    producer = AIOKafkaProducer(
        bootstrap_servers=bootstrap,
        acks="all",
        compression_type=None if codec == "none" else codec,
        enable_idempotence=idempotence == "idempotent",
    )
    await producer.start()
    sent = [
        await producer.send(topic, value(number), key(number), partition=number % PARTITIONS)
        for number in numbers(first, count)
    ]
    await asyncio.wait_for(asyncio.gather(*sent), SECONDS)
    await producer.stop()


async def consume(bootstrap, topic, count):
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, group_id=None)
    await consumer.start()
    consumer.assign(partitions_of(topic))
    await consumer.seek_to_beginning()
    for _ in range(int(count)):
        record = await asyncio.wait_for(consumer.getone(), SECONDS)
        show(record.partition, record.offset, record.key, record.value)
    await consumer.stop()


async def offsets(bootstrap, topic):
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, group_id=None)
    await consumer.start()
    partitions = partitions_of(topic)
    first = await consumer.beginning_offsets(partitions)
    end = await consumer.end_offsets(partitions)
    for partition in partitions:
        print(partition.partition, first[partition], end[partition])
    await consumer.stop()


async def delete(bootstrap, topic):
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    raise_errors(await admin.delete_topics([topic], timeout_ms=1000 * SECONDS))
    await admin.close()


def blocking(operation):
    return lambda *args: asyncio.run(operation(*args))


main({
    "create": blocking(create),
    "produce": blocking(produce),
    "consume": blocking(consume),
    "offsets": blocking(offsets),
    "delete": blocking(delete),
})
