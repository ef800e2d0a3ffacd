package klamm.interop;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.types.RawTaggedField;

/** Values drawn from a seed, with a taste for the ends of ranges. */
final class RandomSource implements Instances.Source {
    private static final String[] TEXTS = {
        "", "a", "topic-1", "héron", "漢字かな", "🦩 flamingo", "nul\0inside", "line\nbreak\t\"quoted\\",
        "\u007f\u0080\u07ff\u0800\uffff", "x".repeat(126), "y".repeat(127), "é".repeat(64)};

    private final SplittableRandom random;

    RandomSource(long seed) {
        this.random = new SplittableRandom(seed);
    }

    @Override
    public boolean setTagged() {
        return random.nextInt(3) > 0;
    }

    @Override
    public boolean setNull() {
        return random.nextInt(4) == 0;
    }

    @Override
    public boolean repeat() {
        return random.nextInt(8) == 0;
    }

    @Override
    public boolean bool() {
        return random.nextBoolean();
    }

    @Override
    public long integer(long min, long max) {
        return switch (random.nextInt(6)) {
            case 0 -> min;
            case 1 -> max;
            case 2 -> Math.max(min, -1);
            case 3 -> random.nextInt(3);
            case 4 -> random.nextInt(0, 128);
            default -> max == Long.MAX_VALUE ? random.nextLong() : random.nextLong(min, max + 1);
        };
    }

    @Override
    public double float64() {
        return switch (random.nextInt(6)) {
            case 0 -> 0.0;
            case 1 -> -1.5;
            case 2 -> Double.MAX_VALUE;
            case 3 -> Double.MIN_VALUE;
            case 4 -> 0.1;
            default -> random.nextDouble(-1e12, 1e12);
        };
    }

    @Override
    public Uuid uuid() {
        return switch (random.nextInt(4)) {
            case 0 -> Uuid.ZERO_UUID;
            case 1 -> new Uuid(-1L, Long.MIN_VALUE);
            default -> new Uuid(random.nextLong(), random.nextLong());
        };
    }

    @Override
    public String string() {
        if (random.nextInt(400) == 0) {
            return "long".repeat(4_200);
        }
        if (random.nextInt(3) == 0) {
            int length = random.nextInt(20);
            StringBuilder text = new StringBuilder();
            while (text.length() < length) {
                int point = random.nextInt(1, 0x2fff);
                text.appendCodePoint(point);
            }
            return text.toString();
        }
        return TEXTS[random.nextInt(TEXTS.length)];
    }

    @Override
    public byte[] bytes() {
        int length = switch (random.nextInt(4)) {
            case 0 -> 0;
            case 1 -> 1;
            case 2 -> 127 + random.nextInt(3);
            default -> random.nextInt(300);
        };
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    @Override
    public int count(int depth) {
        // Two deep, three elements each would be 27 structs and more; trees stay small this way.
        return depth == 0 ? random.nextInt(4) : random.nextInt(3);
    }

    @Override
    public List<RawTaggedField> unknownTags(TreeSet<Integer> defined) {
        TreeMap<Integer, byte[]> tags = new TreeMap<>();
        if (random.nextInt(5) == 0) {
            int count = 1 + random.nextInt(3);
            for (int i = 0; i < count; i++) {
                int tag = switch (random.nextInt(4)) {
                    case 0 -> random.nextInt(16);
                    case 1 -> 127 + random.nextInt(2);
                    case 2 -> Integer.MAX_VALUE - 1;
                    default -> random.nextInt(100_000);
                };
                if (!defined.contains(tag)) {
                    tags.put(tag, bytes());
                }
            }
        }
        List<RawTaggedField> list = new ArrayList<>();
        tags.forEach((tag, data) -> list.add(new RawTaggedField(tag, data)));
        return list;
    }
}
