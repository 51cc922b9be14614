//! Chromium without a window, by the WebDriver protocol of its driver: JSON over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use stdx::sync::thread;

/// How long a page may take to show something.
const PATIENCE: Duration = Duration::from_secs(60);
const STEP: Duration = Duration::from_millis(100);

/// A browser with one page, until it is dropped.
pub struct Browser {
    driver: Child,
    /// Held open: the driver may write to it.
    _said: BufReader<ChildStdout>,
    port: u16,
    session: String,
}

impl Browser {
    /// Starts the driver on a free port, and a browser with a window of a size in pixels.
    pub fn start(width: u32, height: u32) -> Self {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut driver = command.spawn().expect("chromedriver is there");
        let mut said = BufReader::new(driver.stdout.take().unwrap());
        let mut line = String::new();
        let port = loop {
            line.clear();
            assert!(said.read_line(&mut line).unwrap() > 0, "the driver names no port");
            if let Some((_, port)) =
                line.trim_end().trim_end_matches('.').rsplit_once("successfully on port ")
            {
                break port.parse().unwrap();
            }
        };
        let mut browser = Self { driver, _said: said, port, session: String::new() };
        let arguments = [
            "--headless=new".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            format!("--window-size={width},{height}"),
        ];
        let asked = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let session = browser.send("POST", "", &asked);
        browser.session = format!("/{}", session["sessionId"].as_str().unwrap());
        browser
    }

    /// Sends a command of the session; the value that the driver answers with.
    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = format!(
            "{method} /session{}{path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n",
            self.session,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        // The driver keeps the connection whatever it is asked.
        let mut reply = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reply.read_line(&mut line).unwrap();
            match line.trim_end().to_lowercase().split_once("content-length:") {
                Some((_, it)) => length = it.trim().parse().unwrap(),
                None if line.trim_end().is_empty() => break,
                None => {}
            }
        }
        let mut text = vec![0; length];
        reply.read_exact(&mut text).unwrap();
        let mut reply: Value = serde_json::from_slice(&text).unwrap();
        let value = reply["value"].take();
        assert!(value["error"].is_null(), "{path} {body}: {value}");
        value
    }

    /// Opens a page.
    pub fn open(&self, url: &str) {
        self.send("POST", "/url", &json!({"url": url}));
    }

    /// What a script of the page returns.
    pub fn script(&self, script: &str) -> Value {
        self.send("POST", "/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Waits until an expression of the page is true.
    pub fn wait(&self, expression: &str) {
        for _ in 0..PATIENCE.as_millis() / STEP.as_millis() {
            if self.script(&format!("return Boolean({expression})")) == json!(true) {
                return;
            }
            thread::sleep(STEP);
        }
        let text = self.script("return document.body.innerText");
        panic!("it does not come to {expression}: {}", text.as_str().unwrap_or_default());
    }

    /// Calls a method of the browser that WebDriver does not have.
    pub fn devtools(&self, method: &str, params: Value) {
        self.send("POST", "/goog/cdp/execute", &json!({"cmd": method, "params": params}));
    }

    /// What the console of the page shows that is a warning or an error.
    pub fn complaints(&self) -> Vec<String> {
        let all = self.send("POST", "/se/log", &json!({"type": "browser"}));
        let all = all.as_array().unwrap().iter();
        let bad = all.filter(|it| it["level"] != "INFO" && it["level"] != "DEBUG");
        bad.map(Value::to_string).collect()
    }

    /// A picture of the window, as PNG in base 64.
    pub fn picture(&self) -> String {
        self.send("GET", "/screenshot", &Value::Null).as_str().unwrap().to_owned()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !thread::panicking() {
            self.send("DELETE", "", &Value::Null);
        }
        // The driver ends its browsers with itself.
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
