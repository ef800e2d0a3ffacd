package klamm.interop;

import java.util.List;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.types.RawTaggedField;

/** Numbers 0, strings and bytes empty, one element in each array, nothing tagged. */
final class SmallestSource implements Instances.Source {
    @Override
    public boolean setTagged() {
        return false;
    }

    @Override
    public boolean setNull() {
        return false;
    }

    @Override
    public boolean repeat() {
        return false;
    }

    @Override
    public boolean bool() {
        return false;
    }

    @Override
    public long integer(long min, long max) {
        return 0;
    }

    @Override
    public double float64() {
        return 0;
    }

    @Override
    public Uuid uuid() {
        return Uuid.ZERO_UUID;
    }

    @Override
    public String string() {
        return "";
    }

    @Override
    public byte[] bytes() {
        return new byte[0];
    }

    @Override
    public int count(int depth) {
        return 1;
    }

    @Override
    public List<RawTaggedField> unknownTags(TreeSet<Integer> defined) {
        return List.of();
    }
}
