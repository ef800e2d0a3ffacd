//! Records, which the replicas have: here they are only asked.

use klamm_protocol::messages::delete_records::{DeleteRecordsRequest, DeleteRecordsResponse};
use klamm_protocol::messages::describe_log_dirs::{
    DescribeLogDirsRequest, DescribeLogDirsResponse,
};
use klamm_protocol::messages::fetch::FetchRequest;
use klamm_protocol::messages::init_producer_id::{InitProducerIdRequest, InitProducerIdResponse};
use klamm_protocol::messages::list_offsets::{ListOffsetsRequest, ListOffsetsResponse};
use klamm_protocol::messages::offset_for_leader_epoch::{
    OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse,
};
use klamm_protocol::messages::produce::{ProduceRequest, ProduceResponse};

use crate::broker::call::{Call, Reply, Serve};
use crate::replicas::Produced;

impl Serve for ProduceRequest {
    async fn serve(self, call: Call) -> Reply<ProduceResponse> {
        let listener = &call.origin.listener;
        let replicas = &call.broker.replicas;
        match replicas.produce(self, call.version, listener).await {
            Produced::Answer(response) => Reply::Answer(response),
            Produced::Silence => Reply::Silence,
            Produced::Close => Reply::Close,
        }
    }
}

impl Serve for FetchRequest {
    async fn serve(self, call: Call) -> Reply<Self::Response> {
        let listener = &call.origin.listener;
        let replicas = &call.broker.replicas;
        Reply::Answer(replicas.fetch(self, call.version, listener).await)
    }
}

impl Serve for ListOffsetsRequest {
    async fn serve(self, call: Call) -> Reply<ListOffsetsResponse> {
        let replicas = &call.broker.replicas;
        Reply::Answer(replicas.list_offsets(self, call.version).await)
    }
}

impl Serve for OffsetForLeaderEpochRequest {
    async fn serve(self, call: Call) -> Reply<OffsetForLeaderEpochResponse> {
        let replicas = &call.broker.replicas;
        Reply::Answer(replicas.offset_for_leader_epoch(self).await)
    }
}

impl Serve for DeleteRecordsRequest {
    async fn serve(self, call: Call) -> Reply<DeleteRecordsResponse> {
        Reply::Answer(call.broker.replicas.delete_records(self).await)
    }
}

impl Serve for DescribeLogDirsRequest {
    async fn serve(self, call: Call) -> Reply<DescribeLogDirsResponse> {
        Reply::Answer(call.broker.replicas.describe_log_dirs(self).await)
    }
}

impl Serve for InitProducerIdRequest {
    async fn serve(self, call: Call) -> Reply<InitProducerIdResponse> {
        Reply::Answer(call.broker.replicas.init_producer_id(self).await)
    }
}
