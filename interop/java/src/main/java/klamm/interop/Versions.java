package klamm.interop;

import com.fasterxml.jackson.databind.JsonNode;

/** A range of versions as schemas write it: {@code 3}, {@code 0-4}, {@code 2+}, {@code none}. */
record Versions(int min, int max) {
    static final Versions NONE = new Versions(0, -1);

    static Versions parse(JsonNode text) {
        if (text == null || text.asText().equals("none")) {
            return NONE;
        }
        String value = text.asText();
        if (value.endsWith("+")) {
            return new Versions(Integer.parseInt(value.substring(0, value.length() - 1)), 32767);
        }
        int dash = value.indexOf('-');
        if (dash < 0) {
            return new Versions(Integer.parseInt(value), Integer.parseInt(value));
        }
        return new Versions(
            Integer.parseInt(value.substring(0, dash)), Integer.parseInt(value.substring(dash + 1)));
    }

    boolean contains(int version) {
        return min <= version && version <= max;
    }

    boolean isEmpty() {
        return max < min;
    }
}
