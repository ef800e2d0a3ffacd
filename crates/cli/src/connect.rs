use std::time::Duration;

use klamm_client::{Admin, Bootstrap, ClientConfig, ClientError, ServerAddress};
use klamm_config::{ClientSettings, Properties, Values};

use crate::args::ConnectionArgs;
use crate::errors::Problem;
use crate::output::Output;
use crate::properties;

/// What Apache's tool waits where neither a flag nor the file says it.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// What Apache's tool gives one request of it, so that a lost one can be sent again in time.
const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(15);

/// The cluster that a command is about, not yet connected to.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    config: ClientConfig,
}

impl Target {
    /// Reads the properties file, if there is one, and joins it with the flags. Warnings are said
    /// at once.
    pub(crate) fn new(args: &ConnectionArgs, out: &Output) -> Result<Self, Problem> {
        if args.admin_config.is_some() {
            out.warn("--admin.config is deprecated: use --command-config");
        }
        let properties = match args.command_config.as_ref().or(args.admin_config.as_ref()) {
            Some(path) => properties::read(path, "--command-config")?,
            None => Properties::empty(),
        };
        let (target, warnings) = Self::join(args, &properties)?;
        for warning in &warnings {
            out.warn(warning);
        }
        Ok(target)
    }

    /// Flags win over the file; the second part is what a person should know about the file.
    fn join(
        args: &ConnectionArgs,
        properties: &Properties,
    ) -> Result<(Self, Vec<String>), Problem> {
        let (settings, values) = ClientSettings::read(properties).map_err(|error| {
            Problem::misuse("the client's properties file cannot be used")
                .because(error.to_string())
        })?;
        let bootstrap = bootstrap(args, &settings, &values, properties)?;
        let timeout = match args.timeout {
            Some(timeout) => timeout,
            None if settings.api_timeout_is_given => settings.default_api_timeout,
            None if settings.request_timeout_is_given => {
                DEFAULT_TIMEOUT.max(settings.request_timeout)
            }
            None => DEFAULT_TIMEOUT,
        };
        let request_timeout = if settings.request_timeout_is_given {
            settings.request_timeout
        } else {
            DEFAULT_REQUEST_TIMEOUT
        };
        let config = ClientConfig {
            client_id: settings.client_id,
            request_timeout,
            default_api_timeout: timeout,
            retries: settings.retries,
            retry_backoff: settings.retry_backoff,
            retry_backoff_max: settings.retry_backoff_max,
            reconnect_backoff: settings.reconnect_backoff,
            reconnect_backoff_max: settings.reconnect_backoff_max,
            connect_timeout: settings.connection_setup_timeout,
            ..ClientConfig::new(bootstrap)
        };
        let warnings = values.warnings().iter().map(ToString::to_string).collect();
        Ok((Self { config }, warnings))
    }

    /// Whether it is reached through its controllers, which serve no metadata.
    pub(crate) fn is_controllers(&self) -> bool {
        matches!(self.config.bootstrap, Bootstrap::Controllers(_))
    }

    /// How long a call may take.
    pub(crate) fn timeout(&self) -> Duration {
        self.config.default_api_timeout
    }

    /// What a client of it needs to know.
    pub(crate) fn config(&self) -> &ClientConfig {
        &self.config
    }

    /// Connects to the first server that answers.
    pub(crate) async fn connect(&self) -> Result<Admin, Problem> {
        Admin::connect(self.config.clone())
            .await
            .map_err(|error| client_problem("the cluster could not be reached", &error))
    }
}

/// What a client's error is to a person. Its text names the server, the cause and mostly a next
/// step.
pub(crate) fn client_problem(what: &str, error: &ClientError) -> Problem {
    let problem = Problem::failure(what).because(error.to_string());
    match error {
        ClientError::GaveUp {
            out_of_retries: false,
            ..
        } => problem.next("if the cluster is only slow, give it more time with --timeout"),
        ClientError::Unsupported { .. } => {
            problem.next("point klamm at a Kafka broker, 2.4 or later for all that it does")
        }
        _ => problem,
    }
}

fn bootstrap(
    args: &ConnectionArgs,
    settings: &ClientSettings,
    values: &Values,
    properties: &Properties,
) -> Result<Bootstrap, Problem> {
    let flag = |name: &str, list: &str| {
        ServerAddress::parse_list(list).map_err(|error| Problem::misuse(format!("{name}: {error}")))
    };
    let key = |name: &str, list: &[String]| {
        let line = values.line(name).unwrap_or(0);
        ServerAddress::parse_list(&list.join(",")).map_err(|error| {
            Problem::misuse(format!("{}:{line}: {name}: {error}", properties.file()))
        })
    };
    if let Some(list) = &args.bootstrap_server {
        flag("--bootstrap-server", list).map(Bootstrap::Brokers)
    } else if let Some(list) = &args.bootstrap_controller {
        flag("--bootstrap-controller", list).map(Bootstrap::Controllers)
    } else if values.is_given("bootstrap.servers") {
        key("bootstrap.servers", &settings.bootstrap_servers).map(Bootstrap::Brokers)
    } else if values.is_given("bootstrap.controllers") {
        key("bootstrap.controllers", &settings.bootstrap_controllers).map(Bootstrap::Controllers)
    } else {
        Err(Problem::misuse("no server is named")
            .next("name a broker with --bootstrap-server host:port, or in --command-config"))
    }
}

#[cfg(test)]
mod tests;
