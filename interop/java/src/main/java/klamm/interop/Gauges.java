package klamm.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** The numbers and texts that a server of Apache Kafka tells by JMX. */
final class Gauges {
    void register(Map<String, Peer.Op> ops) {
        ops.put("jmx", args -> read(Peer.required(args, "port").asInt()));
    }

    private static JsonNode read(int port) throws Exception {
        JMXServiceURL url =
            new JMXServiceURL("service:jmx:rmi:///jndi/rmi://127.0.0.1:" + port + "/jmxrmi");
        ArrayNode out = Peer.NODES.arrayNode();
        try (JMXConnector connector = JMXConnectorFactory.connect(url)) {
            MBeanServerConnection server = connector.getMBeanServerConnection();
            for (ObjectName name : server.queryNames(new ObjectName("kafka.*:*"), null)) {
                ObjectNode bean = out.addObject();
                bean.put("domain", name.getDomain());
                ObjectNode keys = bean.putObject("keys");
                name.getKeyPropertyList().forEach(keys::put);
                ObjectNode values = bean.putObject("values");
                for (MBeanAttributeInfo attribute : server.getMBeanInfo(name).getAttributes()) {
                    // Some are of what ended meanwhile.
                    Object value = server.isRegistered(name)
                        ? server.getAttribute(name, attribute.getName())
                        : null;
                    if (value instanceof Number number) {
                        values.put(attribute.getName(), number.doubleValue());
                    } else if (value instanceof String text) {
                        values.put(attribute.getName(), text);
                    }
                }
            }
        }
        return out;
    }
}
