//! `nodewise serve`: a database for clients of PostgreSQL.

use std::io::BufRead;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use server::{Certificate, Collector, Limits, Listen, Server, ServerOptions, TraceOptions, Users};
use stdx::Bytes;

use crate::commands::{slow_log, trace_log};
use crate::failure::Failure;
use crate::opening::{open_database, open_folder};
use crate::serve_arguments::{PasswordArguments, ServeArguments, TraceArguments};

/// The port of PostgreSQL.
const PORT: u16 = 5432;

/// Serves until it is told to stop.
pub fn run(arguments: &ServeArguments) -> Result<bool, Failure> {
    let mut options = options(arguments)?;
    let users = !options.users.is_empty();
    let database = match &arguments.folder {
        Some(folder) => open_folder(folder, &arguments.pool, arguments.load)?,
        None => open_database(&arguments.pool)?,
    };
    if let Some(from) = arguments.slow_statements {
        slow_log::begin(&database, Duration::from_millis(from), arguments.slow_plans);
    }
    if let Some(traces) = &mut options.traces {
        traces.tell = trace_log::teller(&database);
        eprintln!("traces go to {}", traces.collector.url());
    }
    let listen = options.listen.clone();
    let encrypted = options.certificate.is_some();
    let server = Server::bind(database.clone(), options).map_err(|error| {
        let tcp = listen.tcp.map(|it| it.to_string());
        let socket = listen.socket_folder.as_deref().map(|it| it.display().to_string());
        let http = listen.http.map(|it| it.to_string());
        let flight = listen.flight.map(|it| it.to_string());
        let places: Vec<String> = tcp.into_iter().chain(socket).chain(http).chain(flight).collect();
        Failure::Other(format!("cannot listen on {}: {error}", places.join(" and ")))
    })?;
    server.stop_on_signals()?;
    if let Some(address) = server.address() {
        let (host, port) = (address.ip(), address.port());
        eprintln!("listening on {address}: psql -h {host} -p {port} -U nodewise");
        if !address.ip().is_loopback() && !encrypted {
            eprintln!(
                "note: what goes over the network is not encrypted without --tls-cert and --tls-key"
            );
        }
        if arguments.trust_loopback {
            eprintln!(
                "note: whoever has an account on this machine may come in without a password"
            );
        } else if !users {
            eprintln!("note: the file of users is empty, so nobody can come in over TCP");
        }
    }
    if let Some(folder) = server.socket().and_then(|it| it.parent()) {
        let port = server.address().map_or(PORT, |it| it.port());
        eprintln!("listening on a Unix socket: psql -h {} -p {port}", folder.display());
    }
    if let Some(address) = server.http_address() {
        let scheme = if encrypted { "https" } else { "http" };
        eprintln!("listening on {address} for browsers: {scheme}://{address}/");
    }
    if let Some(address) = server.flight_address() {
        let scheme = if encrypted { "grpc+tls" } else { "grpc" };
        eprintln!("listening on {address} for Flight SQL: {scheme}://{address}");
    }
    server.run();
    database.close();
    eprintln!("stopped");
    Ok(true)
}

fn options(arguments: &ServeArguments) -> Result<ServerOptions, Failure> {
    let known = arguments.users.is_some() || arguments.trust_loopback;
    let tcp = match (arguments.listen, &arguments.socket) {
        (None, Some(_)) if !known => None,
        (listen, _) => Some(listen.unwrap_or(SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)))),
    };
    // The roles of a folder may have passwords.
    let may_know = known || arguments.folder.is_some() && arguments.listen.is_some();
    let others = arguments.http.is_some() || arguments.flight.is_some();
    if (tcp.is_some() || others) && !may_know {
        return Err(Failure::Arguments(
            "nobody could come in over TCP: name --users FILE (lines that `nodewise password NAME` makes), \
             --trust-loopback for all on this machine, or --socket FOLDER for yourself"
                .into(),
        ));
    }
    let users = match &arguments.users {
        None => Users::default(),
        Some(path) => {
            let failed = |error: String| Failure::Other(format!("{}: {error}", path.display()));
            let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
            Users::parse(&text).map_err(failed)?
        }
    };
    let certificate = match (&arguments.tls_cert, &arguments.tls_key) {
        (Some(chain), Some(key)) => Some(Certificate::read(chain, key).map_err(Failure::Other)?),
        _ => None,
    };
    let size = &arguments.max_message_size;
    let size = Bytes::of_setting(size).filter(|it| (1 << 10..1 << 30).contains(&it.0)).ok_or_else(
        || Failure::Arguments(format!("--max-message-size is a size from 1kB to 1GB, not {size}")),
    )?;
    Ok(ServerOptions {
        listen: Listen {
            tcp,
            socket_folder: arguments.socket.clone(),
            http: arguments.http,
            flight: arguments.flight,
        },
        users,
        trust_loopback: arguments.trust_loopback,
        certificate,
        allow_files: arguments.allow_files,
        limits: Limits {
            connections: arguments.max_connections,
            message_bytes: size.0 as usize,
            idle: Duration::from_secs(arguments.idle_timeout.unwrap_or(0) as u64),
            grace: Duration::from_secs(arguments.grace),
            ..Limits::default()
        },
        traces: traces(&arguments.traces)?,
    })
}

fn traces(arguments: &TraceArguments) -> Result<Option<TraceOptions>, Failure> {
    let Some(url) = &arguments.url else { return Ok(None) };
    let collector = Collector::parse(url, arguments.authorities.as_deref());
    let mut options = TraceOptions::new(collector.map_err(Failure::Arguments)?);
    if let Some(service) = &arguments.service {
        options.service.clone_from(service);
    }
    options.ratio = arguments.ratio.unwrap_or(options.ratio);
    Ok(Some(options))
}

/// Looks whether a server could be set up so, as far as that is known without a start.
pub fn check(arguments: &ServeArguments) -> Result<bool, Failure> {
    let options = options(arguments)?;
    let Listen { tcp, socket_folder, http, flight } = &options.listen;
    let folder = arguments.folder.as_ref().map(|it| it.display().to_string());
    println!("folder: {}", folder.as_deref().unwrap_or("none, tables are in memory"));
    let or_none = |it: Option<String>| it.unwrap_or_else(|| "none".to_owned());
    println!("TCP: {}", or_none(tcp.map(|it| it.to_string())));
    println!(
        "Unix socket in: {}",
        or_none(socket_folder.as_ref().map(|it| it.display().to_string()))
    );
    println!("HTTP: {}", or_none(http.map(|it| it.to_string())));
    println!("Flight SQL: {}", or_none(flight.map(|it| it.to_string())));
    println!("TLS: {}", if options.certificate.is_some() { "on" } else { "off" });
    let traces = options.traces.as_ref().map(|it| it.collector.url().to_owned());
    println!("traces: {}", or_none(traces));
    Ok(true)
}

/// Prints the line of a user with the password that stands on standard input.
pub fn password(arguments: &PasswordArguments) -> Result<bool, Failure> {
    eprint!("password of {}: ", arguments.name);
    let mut password = String::new();
    std::io::stdin().lock().read_line(&mut password)?;
    let line = Users::line(&arguments.name, password.trim_end_matches(['\r', '\n']));
    println!("{}", line.map_err(Failure::Arguments)?);
    Ok(true)
}
