"""A preferred election, with librdkafka: python elect.py BOOTSTRAP TOPIC PARTITION"""

import sys

from confluent_kafka import ElectionType, TopicPartition
from confluent_kafka.admin import AdminClient

SECONDS = 60

bootstrap, topic, partition = sys.argv[1:]
admin = AdminClient({"bootstrap.servers": bootstrap})
wanted = TopicPartition(topic, int(partition))
errors = admin.elect_leaders(ElectionType.PREFERRED, [wanted]).result(SECONDS)
if errors != {wanted: None}:
    sys.exit(f"not elected: {errors}")
