//! The page in a browser: each view with what a modelled machine of four sockets gives it, and what keys and clicks do.
//!
//! Pictures go to the folder that `NODEWISE_PICTURES` names, if it names one.

mod browser;
mod common;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use browser::Browser;
use common::{Raw, Running, query};
use hardware::samples;
use serde_json::json;
use server::ServerOptions;
use simulator::SimulatedMachine;

const TABLES: &str = "CREATE TABLE sales PARTITION BY HASH (customer) PARTITIONS 4 AS \
    SELECT i AS id, i % 1000 AS customer, i % 97 AS amount, 'city ' || i % 50 AS city FROM generate_series(1, 200000) AS t(i); \
    CREATE TABLE customers AS SELECT i AS customer, 'name ' || i AS name FROM generate_series(0, 999) AS t(i); \
    SELECT city, sum(amount) FROM sales JOIN customers USING (customer) GROUP BY city";

fn server() -> Running {
    let options = ServerOptions { trust_loopback: true, ..ServerOptions::default() };
    let server = Running::on(SimulatedMachine::new(samples::four_sockets(), 7), options);
    let mut raw = Raw::connect(server.address);
    raw.send(&query(TABLES));
    let messages = raw.until_ready();
    assert!(messages.iter().all(|it| it.0 != b'E'), "{messages:?}");
    server
}

fn keep(browser: &Browser, name: &str) {
    if let Some(folder) = std::env::var_os("NODEWISE_PICTURES") {
        let picture = STANDARD.decode(browser.picture()).unwrap();
        std::fs::write(std::path::Path::new(&folder).join(format!("{name}.png")), picture).unwrap();
    }
}

/// Puts a text into the box and presses a button; waits until its outcome is shown.
fn press(browser: &Browser, text: &str, button: &str) -> String {
    let script = format!(
        "document.getElementById('outcome').textContent = ''; document.getElementById('text').value = {}; \
         document.getElementById({}).click()",
        json!(text),
        json!(button)
    );
    browser.script(&script);
    browser.wait("/^(done|failed|stopped)/.test(document.getElementById('outcome').textContent)");
    let shown = browser.script("return document.getElementById('results').innerText");
    shown.as_str().unwrap().to_owned()
}

#[test]
#[ignore = "needs Chromium and its driver: `cargo xtask page` runs it"]
fn every_view_shows_what_there_is() {
    let server = server();
    let browser = Browser::start(1400, 1900);
    browser.open(&format!("http://{}/", server.http));
    browser.wait("document.getElementById('summary').textContent.includes('4 sockets, 4 nodes')");
    browser.wait("document.querySelectorAll('#heat-body tbody tr').length == 6");
    browser.wait("document.querySelectorAll('#traffic-body table')[0].rows.length == 5");
    browser.wait(
        "/ % of .* were read on the node/.test(document.getElementById('traffic-body').innerText)",
    );
    browser.wait("document.querySelectorAll('#topology-body table')[1].rows.length == 5");
    browser.wait("document.querySelectorAll('#memory-body tbody tr').length == 4");
    browser.wait("document.getElementById('placer-body').innerText.includes('SET placer')");
    browser.script("const it = document.getElementById('heat-table'); it.value = 'customers'; it.dispatchEvent(new Event('change'))");
    browser.wait("document.querySelectorAll('#heat-body tbody tr').length == 2");
    keep(&browser, "views");
    // On a phone in the dark nothing is wider than the window.
    browser.devtools(
        "Emulation.setDeviceMetricsOverride",
        json!({"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true}),
    );
    let dark = json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]});
    browser.devtools("Emulation.setEmulatedMedia", dark);
    browser.wait("matchMedia('(prefers-color-scheme: dark)').matches");
    browser.wait("document.documentElement.scrollWidth <= 390");
    keep(&browser, "phone");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium and its driver: `cargo xtask page` runs it"]
fn statements_run_and_are_explained_by_picture_and_time_line() {
    let server = server();
    let browser = Browser::start(1400, 1100);
    browser.open(&format!("http://{}/", server.http));
    let shown = press(&browser, "SELECT '<b>x</b>' AS markup, NULL AS none", "run");
    assert!(shown.contains("<b>x</b>") && shown.contains("NULL"), "{shown}");
    let shown = press(&browser, "SELECT 1;\nSELECT nope", "run");
    assert!(shown.contains("42703") && shown.contains("line 2, column 8"), "{shown}");
    let join = "SELECT city, sum(amount), max(name) FROM sales JOIN customers USING (customer) \
                WHERE amount > 3 GROUP BY city ORDER BY 2 DESC";
    for button in ["explain", "analyze"] {
        press(&browser, join, button);
        browser.wait("document.querySelector('#results img')?.naturalWidth > 300");
        keep(&browser, button);
    }
    browser.script("document.getElementById('plan-as').value = 'text'");
    let shown = press(&browser, join, "analyze");
    assert!(shown.contains("pipeline 0") && shown.contains("actual:"), "{shown}");
    press(&browser, join, "trace");
    browser.wait("document.querySelectorAll('#results svg rect title').length > 0");
    browser.wait("document.querySelectorAll('#results tbody tr').length == 50");
    keep(&browser, "trace");
    let keys = "document.getElementById('text').value = 'SELECT 6 * 7 AS answer'; \
                document.getElementById('text').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', ctrlKey: true}))";
    browser.script(keys);
    browser.wait("document.querySelector('#results tbody td')?.textContent == '42'");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium and its driver: `cargo xtask page` runs it"]
fn a_statement_that_runs_is_steered_and_ended() {
    let server = Running::start();
    let browser = Browser::start(1400, 1100);
    browser.open(&format!("http://{}/", server.http));
    let long = "SELECT count(*) FROM generate_series(1, 100000) a(x), generate_series(1, 100000) b(y) WHERE x * y % 7 = 8";
    let client = {
        let address = server.address;
        stdx::sync::thread::spawn(move || Raw::connect(address).state(&query(long)))
    };
    browser.wait("document.querySelector('#running-body select')");
    browser.script("const it = document.querySelector('#running-body select'); it.value = '200'; it.dispatchEvent(new Event('change'))");
    let mut raw = Raw::connect(server.address);
    let class = "SELECT max(priority) FROM nodewise.queries";
    for _ in 0..100 {
        if raw.value(class) == "200" {
            break;
        }
        stdx::sync::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(raw.value(class), "200");
    assert_eq!(
        raw.value("SELECT max(state) FROM nodewise.queries WHERE priority = 200"),
        "running"
    );
    keep(&browser, "running");
    browser.script("document.querySelector('#running-body button').click()");
    assert_eq!(client.join().unwrap(), "57014");
    browser.wait("document.getElementById('running-body').innerText.includes('Nothing runs')");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
