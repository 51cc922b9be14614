//! The arguments of `nodewise serve` and `nodewise password`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use nodewise::Loading;

use crate::pool_arguments::{PoolArguments, at_least_one, loading};

/// `nodewise serve`.
#[derive(Args, Debug)]
pub struct ServeArguments {
    /// The folder of the database, made when it is not there; in memory when not given
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// How the files of the folder come into memory, as for the shell
    #[arg(long, value_name = "HOW", default_value = "resident", requires = "folder", value_parser = loading)]
    pub load: Loading,
    /// Where to listen for TCP; port 0 is any that is free. 127.0.0.1:5432 when neither this nor --socket is given
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
    /// Listen on a Unix socket in this folder, for the user who runs the server, without a password
    #[arg(long, value_name = "FOLDER")]
    pub socket: Option<PathBuf>,
    /// Serve the page, statements as JSON and /metrics by HTTP here, as 127.0.0.1:7070; with --tls-cert by HTTPS, else on the
    /// loopback only. Off when not given
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub http: Option<SocketAddr>,
    /// Serve clients of Arrow Flight SQL here, as 127.0.0.1:31337; with --tls-cert by TLS, else on the loopback only. Off when not
    /// given
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub flight: Option<SocketAddr>,
    /// Who may come in over TCP: lines that `nodewise password NAME` makes
    #[arg(long, value_name = "FILE")]
    pub users: Option<PathBuf>,
    /// Let all who come over the loopback in without a password: whoever has an account on this machine
    #[arg(long)]
    pub trust_loopback: bool,
    /// The certificates by which the server shows who it is, as PEM, its own first
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The key of its certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Let clients that come over TCP read and write files of the server, as COPY t FROM 'file'
    #[arg(long)]
    pub allow_files: bool,
    /// Connections at once
    #[arg(long, value_name = "N", default_value = "1000", value_parser = at_least_one)]
    pub max_connections: usize,
    /// Size of a message of a client, as 16MB
    #[arg(long, value_name = "SIZE", default_value = "256MB")]
    pub max_message_size: String,
    /// Seconds that a client may send or take nothing; any time when not given
    #[arg(long, value_name = "SECONDS", value_parser = at_least_one)]
    pub idle_timeout: Option<usize>,
    /// Seconds that statements may go on when the server is to stop
    #[arg(long, value_name = "SECONDS", default_value = "10")]
    pub grace: u64,
    /// A file of lines `name = value`, named as these options are (`folder` for DIR). Variables NODEWISE_NAME go before it, and what
    /// is said here before both
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Tell statements that take so many milliseconds or more on standard error, each as a line of JSON; 0 tells all
    #[arg(long, value_name = "MILLISECONDS")]
    pub slow_statements: Option<u64>,
    /// Tell the plans of slow statements, too: the plan of each statement is then written when it begins
    #[arg(long, requires = "slow_statements")]
    pub slow_plans: bool,
    #[command(flatten)]
    pub traces: TraceArguments,
    #[command(flatten)]
    pub pool: PoolArguments,
}

/// Where traces of statements go.
#[derive(Args, Debug)]
pub struct TraceArguments {
    /// Send a span for each statement to this collector of OpenTelemetry, by OTLP over gRPC, as http://127.0.0.1:4317. Off when
    /// not given
    #[arg(long = "traces", value_name = "URL", value_parser = collector)]
    pub url: Option<String>,
    /// The share of statements that are traced, from 0 to 1, where their clients do not say
    #[arg(long = "traces-ratio", value_name = "SHARE", requires = "url", value_parser = ratio)]
    pub ratio: Option<f64>,
    /// What the collector calls this server; nodewise when not given
    #[arg(long = "traces-service", value_name = "NAME", requires = "url")]
    pub service: Option<String>,
    /// The authorities (PEM) of which a collector at https:// has to have its certificate
    #[arg(long = "traces-authorities", value_name = "FILE", requires = "url")]
    pub authorities: Option<PathBuf>,
}

fn collector(url: &str) -> Result<String, String> {
    server::Collector::check(url).map(|()| url.to_owned())
}

fn ratio(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|it| (0.0..=1.0).contains(it));
    number.ok_or_else(|| "a number from 0 to 1 is needed".to_owned())
}

/// `nodewise password`.
#[derive(Args, Debug)]
pub struct PasswordArguments {
    /// The user
    #[arg(value_name = "NAME")]
    pub name: String,
}
