package org.apache.kafka.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.message.AlterClientQuotasRequestDataJsonConverter;
import org.apache.kafka.common.message.AlterClientQuotasResponseDataJsonConverter;
import org.apache.kafka.common.message.AlterUserScramCredentialsRequestDataJsonConverter;
import org.apache.kafka.common.message.AlterUserScramCredentialsResponseDataJsonConverter;
import org.apache.kafka.common.message.CreateAclsRequestData;
import org.apache.kafka.common.message.CreateAclsRequestDataJsonConverter;
import org.apache.kafka.common.message.DeleteAclsRequestData;
import org.apache.kafka.common.message.DeleteAclsRequestDataJsonConverter;
import org.apache.kafka.common.metadata.AccessControlEntryRecord;
import org.apache.kafka.common.metadata.ClientQuotaRecord;
import org.apache.kafka.common.metadata.MetadataJsonConverters;
import org.apache.kafka.common.metadata.UserScramCredentialRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.requests.AlterClientQuotasRequest;
import org.apache.kafka.common.requests.AlterClientQuotasResponse;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.common.requests.CreateAclsRequest;
import org.apache.kafka.common.requests.DeleteAclsRequest;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.timeline.SnapshotRegistry;

/** Single requests to the parts of Apache Kafka's controller that keep ACLs, quotas and credentials. */
public final class Singles {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private final AclControlManager acls;
    private final ClientQuotaControlManager quotas;
    private final ScramControlManager scram;
    private final MetadataVersion version;

    private Singles(JsonNode wanted) {
        SnapshotRegistry registry = new SnapshotRegistry(new LogContext());
        acls = new AclControlManager.Builder().setSnapshotRegistry(registry).build();
        quotas = new ClientQuotaControlManager.Builder().setSnapshotRegistry(registry).build();
        scram = new ScramControlManager.Builder().setSnapshotRegistry(registry).build();
        version = MetadataVersion.fromFeatureLevel(
            (short) wanted.get("metadata_version").asInt());
        for (JsonNode record : wanted.get("records")) {
            replay(MetadataJsonConverters.readJson(
                record.get(1), (short) record.get(0).asInt(), (short) 0));
        }
    }

    /** The answer and the records of each case. */
    public static JsonNode run(JsonNode args) {
        ArrayNode answers = NODES.arrayNode();
        for (JsonNode wanted : args.get("cases")) {
            answers.add(new Singles(wanted).decide(
                wanted.get("what").asText(), wanted.get("request")));
        }
        return answers;
    }

    private void replay(ApiMessage record) {
        if (record instanceof AccessControlEntryRecord acl) {
            acls.replay(acl);
        } else if (record instanceof ClientQuotaRecord quota) {
            quotas.replay(quota);
        } else if (record instanceof UserScramCredentialRecord credential) {
            scram.replay(credential);
        } else {
            throw new IllegalArgumentException("nobody keeps " + record);
        }
    }

    private JsonNode decide(String what, JsonNode request) {
        return switch (what) {
            case "quotas" -> {
                AlterClientQuotasRequest asked = new AlterClientQuotasRequest(
                    AlterClientQuotasRequestDataJsonConverter.read(request, (short) 1), (short) 1);
                var result = quotas.alterClientQuotas(asked.entries());
                yield answer(result, AlterClientQuotasResponseDataJsonConverter.write(
                    AlterClientQuotasResponse.fromQuotaEntities(result.response(), 0).data(),
                    (short) 1).get("entries"));
            }
            case "scram" -> {
                var result = scram.alterCredentials(
                    AlterUserScramCredentialsRequestDataJsonConverter.read(request, (short) 0),
                    version);
                yield answer(result, AlterUserScramCredentialsResponseDataJsonConverter.write(
                    result.response(), (short) 0).get("results"));
            }
            case "create_acls" -> {
                CreateAclsRequestData data =
                    CreateAclsRequestDataJsonConverter.read(request, (short) 3);
                List<AclBinding> bindings = new ArrayList<>();
                data.creations().forEach(acl -> bindings.add(CreateAclsRequest.aclBinding(acl)));
                var result = acls.createAcls(bindings, version);
                ArrayNode told = NODES.arrayNode();
                result.response().forEach(created -> told.add(created.exception()
                    .map(e -> error(ApiError.fromThrowable(e))).orElse(error(ApiError.NONE))));
                yield answer(result, told);
            }
            case "delete_acls" -> {
                DeleteAclsRequestData data =
                    DeleteAclsRequestDataJsonConverter.read(request, (short) 3);
                var result = acls.deleteAcls(new DeleteAclsRequest.Builder(data)
                    .build((short) 3).filters());
                ArrayNode told = NODES.arrayNode();
                result.response().forEach(deleted ->
                    told.add(deleted.aclBindingDeleteResults().size()));
                yield answer(result, told);
            }
            default -> throw new IllegalArgumentException("nobody decides " + what);
        };
    }

    private static JsonNode answer(ControllerResult<?> result, JsonNode told) {
        ObjectNode answer = NODES.objectNode();
        answer.set("results", told);
        ArrayNode records = answer.putArray("records");
        result.records().forEach(record -> records.add(
            MetadataJsonConverters.writeJson(record.message(), record.version())));
        return answer;
    }

    private static JsonNode error(ApiError error) {
        return NODES.arrayNode().add(error.error().code()).add(error.message());
    }
}
