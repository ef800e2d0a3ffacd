use std::fmt;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::channel::ToController;
use super::{ControllerChannel, Controllers};
use crate::replicas::Question;

/// How long a question of the replicas is asked. They ask again by themselves.
const PATIENCE: Duration = Duration::from_secs(30);

/// Asks the active controller what replicas want to know. Each kind of question has a connection.
pub(super) async fn ask(mut questions: mpsc::Receiver<Question>, controllers: Controllers) {
    let [alter_partition, producer_ids, directories] = [(); 3].map(|()| controllers.channel());
    while let Some(question) = questions.recv().await {
        match question {
            Question::AlterPartition(request, to) => one(&alter_partition, request, to),
            Question::AllocateProducerIds(request, to) => one(&producer_ids, request, to),
            Question::AssignReplicasToDirs(request, to) => one(&directories, request, to),
        }
    }
}

fn one<R: ToController + fmt::Debug>(
    channel: &ControllerChannel,
    request: R,
    to: oneshot::Sender<R::Response>,
) {
    let channel = channel.clone();
    tokio::spawn(async move {
        match channel.ask(&request, Instant::now() + PATIENCE).await {
            // Who asked may be gone.
            Ok(response) => drop(to.send(response)),
            Err(error) => tracing::warn!(api = %R::KEY, %error, "the controller gives no answer"),
        }
    });
}
