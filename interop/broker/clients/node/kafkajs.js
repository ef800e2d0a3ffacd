// kafkajs: node kafkajs.js OPERATION BOOTSTRAP TOPIC ...
// It consumes in groups only, elects no leaders, and has no compression of its own but gzip.
'use strict';

const { CompressionTypes, Kafka, logLevel } = require('kafkajs');

const PARTITIONS = 3;
const BATCH = 500;
const TIMEOUT_MS = 120_000;

const [operation, bootstrap, topic, ...more] = process.argv.slice(2);
const kafka = new Kafka({
  brokers: bootstrap.split(','),
  logLevel: logLevel.WARN,
  requestTimeout: TIMEOUT_MS,
});

async function administer(act) {
  const admin = kafka.admin();
  await admin.connect();
  await act(admin);
  await admin.disconnect();
}

function record(number) {
  const value = `record-${number}-${'x'.repeat(number % 100)}`;
  return { key: String(number), value, partition: number % PARTITIONS };
}

const operations = {
  create: (partitions, replicas) =>
    administer(async (admin) => {
      const wanted = {
        topic,
        numPartitions: Number(partitions),
        replicationFactor: Number(replicas),
      };
      await admin.createTopics({ topics: [wanted], timeout: TIMEOUT_MS });
    }),

  produce: async (codec, from, count, idempotence) => {
    const idempotent = idempotence === 'idempotent';
    const producer = kafka.producer({ idempotent, allowAutoTopicCreation: false });
    await producer.connect();
    const compression = codec === 'gzip' ? CompressionTypes.GZIP : CompressionTypes.None;
    for (let first = 0; first < Number(count); first += BATCH) {
      const length = Math.min(BATCH, Number(count) - first);
      const messages = Array.from({ length }, (_, index) => record(Number(from) + first + index));
      await producer.send({ topic, acks: -1, compression, messages });
    }
    await producer.disconnect();
  },

  offsets: () =>
    administer(async (admin) => {
      const rows = await admin.fetchTopicOffsets(topic);
      rows.sort((one, other) => one.partition - other.partition);
      for (const { partition, low, high } of rows) console.log(partition, low, high);
    }),

  delete: () =>
    administer((admin) => admin.deleteTopics({ topics: [topic], timeout: TIMEOUT_MS })),
};

operations[operation](...more).catch((error) => {
  console.error(error);
  process.exit(1);
});
