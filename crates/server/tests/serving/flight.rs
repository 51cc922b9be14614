//! Flight SQL, as its clients speak it.

use std::time::Duration;

use crate::common::{Raw, Running};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_cast::display::array_value_to_string;
use arrow_flight::error::FlightError;
use arrow_flight::sql::client::FlightSqlServiceClient;
use arrow_flight::sql::{
    ActionBeginSavepointRequest, ActionBeginSavepointResult, ActionCancelQueryRequest,
    ActionCancelQueryResult, ActionEndSavepointRequest, Any, CommandGetDbSchemas,
    CommandGetExportedKeys, CommandGetImportedKeys, CommandGetPrimaryKeys, CommandGetTables,
    CommandStatementIngest, EndTransaction, ProstMessageExt, SqlInfo, TableDefinitionOptions,
    TableExistsOption, TableNotExistOption,
};
use arrow_flight::{Action, FlightDescriptor, FlightInfo, Ticket};
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use prost::Message;
use server::{ServerOptions, Users};
use stdx::prng::Prng;
use stdx::sync::Arc;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request};

type Client = FlightSqlServiceClient<Channel>;

async fn channel(server: &Running) -> Channel {
    Endpoint::new(format!("http://{}", server.flight)).unwrap().connect().await.unwrap()
}

async fn client(server: &Running) -> Client {
    Client::new(channel(server).await)
}

/// A client whose calls are all of one session.
async fn client_of_session(server: &Running) -> Client {
    let mut client = client(server).await;
    client.handshake("ada", "").await.unwrap();
    client
}

fn on_runtime(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let limited = async { tokio::time::timeout(Duration::from_secs(120), test).await };
    runtime.block_on(limited).expect("an answer in time");
}

async fn taken(client: &mut Client, info: FlightInfo) -> Result<Vec<RecordBatch>, FlightError> {
    let told = info.clone().try_decode_schema().unwrap();
    let ticket = info.endpoint[0].ticket.clone().unwrap();
    let stream = client.do_get(ticket).await?;
    let batches: Vec<RecordBatch> = stream.try_collect().await?;
    batches.iter().for_each(|it| assert_eq!(*it.schema(), told));
    Ok(batches)
}

async fn query(client: &mut Client, text: &str) -> Result<Vec<RecordBatch>, FlightError> {
    let info = client.execute(text.to_owned(), None).await?;
    taken(client, info).await
}

/// All values as texts, rows by line.
fn shown(batches: &[RecordBatch]) -> String {
    let mut lines = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            let values = batch.columns().iter().map(|it| array_value_to_string(it, row).unwrap());
            lines.push(values.collect::<Vec<_>>().join("|"));
        }
    }
    lines.join("\n")
}

async fn rows_of(client: &mut Client, text: &str) -> String {
    shown(&query(client, text).await.unwrap())
}

/// The code, and the words of an error.
fn failure<T: std::fmt::Debug>(result: Result<T, FlightError>) -> (Code, String) {
    match result.expect_err("an error") {
        FlightError::Tonic(status) => (status.code(), status.message().to_owned()),
        other => panic!("no error of a call: {other}"),
    }
}

fn action(kind: &str, body: Any) -> Request<Action> {
    Request::new(Action { r#type: kind.to_owned(), body: body.encode_to_vec().into() })
}

async fn act(client: &mut Client, kind: &str, body: Any) -> Option<Any> {
    let mut results = client.do_action(action(kind, body)).await.unwrap();
    let result = results.message().await.unwrap()?;
    Some(Any::decode(result.body).unwrap())
}

#[test]
fn values_of_all_types_go_out_as_arrow_has_them() {
    let server = Running::start();
    on_runtime(async {
        let mut client = client(&server).await;
        let text = "SELECT 1::smallint, 2, 3::bigint, 0.5::real, 0.25, 'x'::text, true, DATE '2024-02-29', \
            TIMESTAMP '2024-01-01 00:00:01', TIMESTAMPTZ '2024-01-01 00:00:00+00' AS z, TIME '01:02:03', \
            INTERVAL '1 month 2 days', '\\x00ff'::bytea, '00000000-0000-0000-0000-000000000001'::uuid, \
            '{\"a\": 1}'::jsonb, ARRAY[1, NULL, 3], NULL::int, ARRAY['a']";
        let batches = query(&mut client, text).await.unwrap();
        let types: Vec<String> =
            batches[0].schema().fields().iter().map(|it| it.data_type().to_string()).collect();
        assert_eq!(
            types.join(" "),
            "Int16 Int32 Int64 Float32 Decimal128(2, 2) Utf8 Boolean Date32 Timestamp(\u{b5}s) \
             Timestamp(\u{b5}s, \"UTC\") Time64(\u{b5}s) Interval(MonthDayNano) Binary FixedSizeBinary(16) Utf8 List(Int32) Int32 List(Utf8)"
        );
        let moments = batches[0].column_by_name("z").unwrap();
        let moments = moments.as_primitive::<TimestampMicrosecondType>();
        assert_eq!(moments.value(0), 1_704_067_200_000_000);
        let others: Vec<usize> = (0..batches[0].num_columns()).filter(|it| *it != 9).collect();
        assert_eq!(
            shown(&[batches[0].project(&others).unwrap()]),
            "1|2|3|0.5|0.25|x|true|2024-02-29|2024-01-01T00:00:01|01:02:03|1 mons 2 days|00ff|\
             00000000000000000000000000000001|{\"a\": 1}|[1, , 3]||[a]"
        );
        assert_eq!(rows_of(&mut client, "SELECT 1 WHERE false").await, "");
        let many = "SELECT i, i::text || 'x' FROM generate_series(1, 200000) t(i)";
        let batches = query(&mut client, many).await.unwrap();
        let mut next = 1;
        for batch in &batches {
            assert!(batch.get_array_memory_size() < 3 << 20, "{}", batch.get_array_memory_size());
            let (numbers, texts) =
                (batch.column(0).as_primitive::<Int32Type>(), batch.column(1).as_string::<i32>());
            for row in 0..batch.num_rows() {
                assert_eq!(numbers.value(row), next);
                assert_eq!(texts.value(row), format!("{next}x"));
                next += 1;
            }
        }
        assert_eq!(next, 200_001);
    });
}

#[test]
fn errors_have_codes_and_states() {
    let server = Running::start();
    on_runtime(async {
        let mut client = client(&server).await;
        for (text, code, words) in [
            ("SELEC 1", Code::InvalidArgument, "(SQLSTATE 42601)"),
            (
                "SELECT * FROM none",
                Code::NotFound,
                "relation \"none\" does not exist (SQLSTATE 42P01)",
            ),
            ("SELECT 1; SELECT 2", Code::InvalidArgument, "multiple commands"),
            (
                "SELECT $1::int",
                Code::InvalidArgument,
                "1 parameters and no values are bound (SQLSTATE 07002)",
            ),
            (
                "SELECT 1 / (i - 3) FROM generate_series(1, 5) t(i)",
                Code::InvalidArgument,
                "(SQLSTATE 22012)",
            ),
            ("COPY (SELECT 1) TO STDOUT", Code::Unimplemented, "needs a client of the server"),
            ("SELECT * FROM read_csv('/etc/passwd')", Code::PermissionDenied, "(SQLSTATE 42501)"),
        ] {
            let (found, message) = failure(query(&mut client, text).await);
            assert!(message.contains(words), "{text}: {message}");
            assert_eq!(found, code, "{text}: {message}");
        }
        assert_eq!(rows_of(&mut client, "SELECT 7").await, "7");
    });
}

#[test]
fn statements_that_are_held_take_values() {
    let server = Running::start();
    on_runtime(async {
        let mut client = client(&server).await;
        client
            .execute_update("CREATE TABLE t (k int PRIMARY KEY, v text)".into(), None)
            .await
            .unwrap();
        let mut insert =
            client.prepare("INSERT INTO t VALUES ($1, $2)".into(), None).await.unwrap();
        let types: Vec<String> = insert
            .parameter_schema()
            .unwrap()
            .fields()
            .iter()
            .map(|it| format!("{} {}", it.name(), it.data_type()))
            .collect();
        assert_eq!(types, ["$1 Int32", "$2 Utf8"]);
        let values = |keys: Vec<i64>, texts: Vec<Option<&str>>| {
            let columns: [(&str, ArrayRef); 2] = [
                ("a", Arc::new(Int64Array::from(keys))),
                ("b", Arc::new(StringArray::from(texts))),
            ];
            RecordBatch::try_from_iter(columns).unwrap()
        };
        insert.set_parameters(values(vec![1, 2, 3], vec![Some("a"), None, Some("c")])).unwrap();
        assert_eq!(insert.execute_update().await.unwrap(), 3);
        // All of a batch, or nothing of it.
        insert.set_parameters(values(vec![4, 1], vec![Some("d"), Some("e")])).unwrap();
        let (code, message) = failure(insert.execute_update().await);
        assert_eq!(code, Code::FailedPrecondition, "{message}");
        assert!(message.contains("23505"), "{message}");
        insert.close().await.unwrap();
        assert_eq!(rows_of(&mut client, "SELECT * FROM t ORDER BY k").await, "1|a\n2|\n3|c");

        let mut select = client.prepare("SELECT v FROM t WHERE k = $1".into(), None).await.unwrap();
        assert_eq!(select.dataset_schema().unwrap().field(0).name(), "v");
        let keys: [(&str, ArrayRef); 1] = [("k", Arc::new(Int64Array::from(vec![3, 1])))];
        select.set_parameters(RecordBatch::try_from_iter(keys).unwrap()).unwrap();
        let info = select.execute().await.unwrap();
        assert_eq!(shown(&taken(&mut client, info).await.unwrap()), "c\na");
        select.close().await.unwrap();
        // Of a parameter that may be anything, what is bound says what it is.
        let mut free = client.prepare("SELECT $1".into(), None).await.unwrap();
        let some: [(&str, ArrayRef); 1] = [("x", Arc::new(Int64Array::from(vec![5])))];
        free.set_parameters(RecordBatch::try_from_iter(some).unwrap()).unwrap();
        let info = free.execute().await.unwrap();
        assert_eq!(shown(&taken(&mut client, info).await.unwrap()), "5");
        assert_eq!(
            client.execute_update("UPDATE t SET v = 'z' WHERE k > 1".into(), None).await.unwrap(),
            2
        );
        assert_eq!(client.execute_update("DROP TABLE t".into(), None).await.unwrap(), 0);
    });
}

#[test]
fn what_has_no_rows_is_done_when_it_is_asked() {
    let server = Running::start();
    on_runtime(async {
        let mut client = client(&server).await;
        let info = client.execute("CREATE TABLE t (k int)".into(), None).await.unwrap();
        assert_eq!(info.total_records, 0);
        assert_eq!(shown(&taken(&mut client, info).await.unwrap()), "");
        let info = client.execute("INSERT INTO t VALUES (1), (2)".into(), None).await.unwrap();
        assert_eq!(info.total_records, 2);
        let schema = "INSERT INTO t VALUES (3)".to_owned();
        let command =
            arrow_flight::sql::CommandStatementQuery { query: schema, transaction_id: None };
        let descriptor = FlightDescriptor::new_cmd(command.as_any().encode_to_vec());
        client.inner_mut().get_schema(descriptor).await.unwrap();
        assert_eq!(rows_of(&mut client, "SELECT count(*) FROM t").await, "2");
        assert_eq!(rows_of(&mut client, "DELETE FROM t WHERE k = 1 RETURNING k").await, "1");
    });
}

#[test]
fn transactions_are_named_and_end() {
    let server = Running::start();
    on_runtime(async {
        let mut client = client_of_session(&server).await;
        client.execute_update("CREATE TABLE t (k int)".into(), None).await.unwrap();
        let begun = client.begin_transaction().await.unwrap();
        let insert = |it: i32| format!("INSERT INTO t VALUES ({it})");
        assert_eq!(client.execute_update(insert(1), Some(begun.clone())).await.unwrap(), 1);
        let (code, message) = failure(client.execute_update(insert(2), None).await);
        assert_eq!(code, Code::FailedPrecondition, "{message}");
        let asked = ActionBeginSavepointRequest { transaction_id: begun.clone(), name: "s".into() };
        let result = act(&mut client, "BeginSavepoint", asked.as_any()).await.unwrap();
        let savepoint: ActionBeginSavepointResult = result.unpack().unwrap().unwrap();
        client.execute_update(insert(3), Some(begun.clone())).await.unwrap();
        let back = ActionEndSavepointRequest { savepoint_id: savepoint.savepoint_id, action: 2 };
        act(&mut client, "EndSavepoint", back.as_any()).await;
        // Nobody else sees it yet, and it is no transaction of others.
        let mut other = client_of_session(&server).await;
        assert_eq!(rows_of(&mut other, "SELECT count(*) FROM t").await, "0");
        client.end_transaction(begun.clone(), EndTransaction::Commit).await.unwrap();
        assert_eq!(rows_of(&mut other, "SELECT * FROM t").await, "1");
        let (code, _) = failure(client.execute_update(insert(4), Some(begun)).await);
        assert_eq!(code, Code::FailedPrecondition);

        let begun = client.begin_transaction().await.unwrap();
        client.execute_update(insert(5), Some(begun.clone())).await.unwrap();
        failure(client.execute_update("SELECT 1 / 0".into(), Some(begun.clone())).await);
        let (_, message) = failure(client.execute_update(insert(6), Some(begun.clone())).await);
        assert!(message.contains("25P02"), "{message}");
        let (_, message) = failure(client.end_transaction(begun, EndTransaction::Commit).await);
        assert!(message.contains("rolled back"), "{message}");
        assert_eq!(rows_of(&mut client, "SELECT * FROM t").await, "1");
        // What a connection leaves open is rolled back.
        let mut third = client_of_session(&server).await;
        let begun = third.begin_transaction().await.unwrap();
        third.execute_update("LOCK TABLE t IN EXCLUSIVE MODE".into(), Some(begun)).await.unwrap();
        drop(third);
        assert_eq!(client.execute_update(insert(7), None).await.unwrap(), 1);
    });
}

#[test]
fn a_session_is_that_of_a_token_or_of_a_cookie() {
    let server = Running::start();
    on_runtime(async {
        let mut named = client_of_session(&server).await;
        named.execute_update("CREATE TEMPORARY TABLE mine (k int)".into(), None).await.unwrap();
        named.execute_update("SET TimeZone = 'Asia/Tokyo'".into(), None).await.unwrap();
        assert_eq!(rows_of(&mut named, "SELECT count(*) FROM mine").await, "0");
        assert_eq!(rows_of(&mut named, "SHOW TimeZone").await, "Asia/Tokyo");
        let mut other = client_of_session(&server).await;
        assert_eq!(failure(query(&mut other, "SELECT * FROM mine").await).0, Code::NotFound);
        let mut plain = client(&server).await;
        let response =
            plain.inner_mut().list_actions(Request::new(arrow_flight::Empty {})).await.unwrap();
        assert_eq!(response.into_inner().count().await, 8);
        let command = arrow_flight::sql::CommandStatementQuery {
            query: "SET TimeZone = 'Asia/Tokyo'".into(),
            transaction_id: None,
        };
        let descriptor = FlightDescriptor::new_cmd(command.as_any().encode_to_vec());
        let told = plain.inner_mut().get_flight_info(descriptor).await.unwrap();
        let cookie = told.metadata().get("set-cookie").unwrap().to_str().unwrap().to_owned();
        plain.set_header("cookie", cookie.split(';').next().unwrap());
        query(&mut plain, "SET TimeZone = 'Asia/Tokyo'").await.unwrap();
        assert_eq!(rows_of(&mut plain, "SHOW TimeZone").await, "Asia/Tokyo");
        plain.set_header("cookie", "other=1");
        assert_eq!(rows_of(&mut plain, "SHOW TimeZone").await, "UTC");
    });
}

#[test]
fn who_has_no_password_gets_nothing() {
    let lines = [("ada", "secret"), ("bob", "hidden")].map(|it| Users::line(it.0, it.1).unwrap());
    let users = Users::parse(&lines.join("\n")).unwrap();
    let server = Running::with(ServerOptions { users, ..ServerOptions::default() });
    on_runtime(async {
        let mut nobody = client(&server).await;
        assert_eq!(failure(query(&mut nobody, "SELECT 1").await).0, Code::Unauthenticated);
        for (user, password) in [("ada", "wrong"), ("eve", "secret"), ("", "")] {
            let message = nobody.handshake(user, password).await.unwrap_err().to_string();
            assert!(message.contains("a user and a password are needed"), "{message}");
        }
        let mut ada = client(&server).await;
        ada.handshake("ada", "secret").await.unwrap();
        assert_eq!(rows_of(&mut ada, "SELECT current_user").await, "ada");
        let token = ada.token().unwrap().clone();
        let mut second = client(&server).await;
        second.set_token(token.clone());
        assert_eq!(rows_of(&mut second, "SELECT 1").await, "1");
        let mut forged: Vec<u8> = token.into_bytes();
        let last = forged.len() - 2;
        forged[last] = if forged[last] == b'A' { b'B' } else { b'A' };
        second.set_token(String::from_utf8(forged).unwrap());
        assert_eq!(failure(query(&mut second, "SELECT 1").await).0, Code::Unauthenticated);
        // Handles of others are worth nothing.
        let begun = ada.begin_transaction().await.unwrap();
        nobody.handshake("bob", "hidden").await.unwrap();
        let (code, message) = failure(nobody.execute_update("SELECT 1".into(), Some(begun)).await);
        assert_eq!(code, Code::FailedPrecondition, "{message}");
    });
}

#[test]
fn a_token_ends_with_its_password() {
    let lines = [("ada", "secret"), ("bob", "hidden")].map(|it| Users::line(it.0, it.1).unwrap());
    let users = Users::parse(&lines.join("\n")).unwrap();
    let server = Running::with(ServerOptions { users, ..ServerOptions::default() });
    on_runtime(async {
        let mut ada = client(&server).await;
        ada.handshake("ada", "secret").await.unwrap();
        let mut basic = client(&server).await;
        basic.set_header("authorization", "Basic YWRhOnNlY3JldA==");
        let mut bob = client(&server).await;
        bob.handshake("bob", "hidden").await.unwrap();
        for it in [&mut ada, &mut basic] {
            assert_eq!(rows_of(it, "SELECT current_user").await, "ada");
        }
        // A session that is open stays; what names it has to be right.
        bob.execute_update("ALTER ROLE ada PASSWORD 'other'".into(), None).await.unwrap();
        for it in [&mut ada, &mut basic] {
            assert_eq!(failure(query(it, "SELECT 1").await).0, Code::Unauthenticated);
        }
        ada.handshake("ada", "secret").await.unwrap_err();
        let mut anew = client(&server).await;
        anew.handshake("ada", "other").await.unwrap();
        assert_eq!(rows_of(&mut anew, "SELECT current_user").await, "ada");
        assert_eq!(rows_of(&mut bob, "SELECT current_user").await, "bob");
        bob.execute_update("DROP ROLE ada".into(), None).await.unwrap();
        assert_eq!(failure(query(&mut anew, "SELECT 1").await).0, Code::Unauthenticated);
    });
}

#[test]
fn rights_are_asked_as_over_the_wire() {
    let users = Users::parse(&Users::line("ada", "secret").unwrap()).unwrap();
    let server = Running::with(ServerOptions { users, ..ServerOptions::default() });
    on_runtime(async {
        let mut ada = client(&server).await;
        ada.handshake("ada", "secret").await.unwrap();
        for text in ["CREATE TABLE t (k int)", "CREATE ROLE bob LOGIN PASSWORD 'hidden'"] {
            ada.execute_update(text.into(), None).await.unwrap();
        }
        let mut bob = client(&server).await;
        bob.handshake("bob", "hidden").await.unwrap();
        let refused = [
            "SELECT * FROM t",
            "INSERT INTO t VALUES (1)",
            "DROP TABLE t",
            "CREATE ROLE eve",
            "SET ROLE ada",
        ];
        for text in refused {
            let (code, message) = failure(query(&mut bob, text).await);
            assert_eq!(code, Code::PermissionDenied, "{text}: {message}");
        }
        ada.execute_update("GRANT SELECT ON t TO bob".into(), None).await.unwrap();
        let mut held = bob.prepare("SELECT count(*) FROM t".into(), None).await.unwrap();
        let info = held.execute().await.unwrap();
        assert_eq!(shown(&taken(&mut bob, info.clone()).await.unwrap()), "0");
        // Neither what is held nor a ticket is a right.
        ada.execute_update("REVOKE SELECT ON t FROM bob".into(), None).await.unwrap();
        assert_eq!(failure(taken(&mut bob, info).await).0, Code::PermissionDenied);
        assert_eq!(failure(held.execute_update().await).0, Code::PermissionDenied);
    });
}

#[test]
fn rows_are_ingested_whole_or_not_at_all() {
    let server = Running::start();
    on_runtime(async {
        let mut client = client_of_session(&server).await;
        let batch = |from: i64, rows: i64| {
            let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(from..from + rows));
            let texts = (from..from + rows).map(|it| (it % 3 > 0).then(|| format!("t{it}")));
            let texts: ArrayRef = Arc::new(StringArray::from_iter(texts));
            RecordBatch::try_from_iter([("k", keys), ("odd \"name", texts)]).unwrap()
        };
        let asked = |missing, there| CommandStatementIngest {
            table_definition_options: Some(TableDefinitionOptions {
                if_not_exist: i32::from(missing),
                if_exists: i32::from(there),
            }),
            table: "In Gest".into(),
            schema: None,
            catalog: None,
            temporary: false,
            transaction_id: None,
            options: Default::default(),
        };
        let (create, fail) = (TableNotExistOption::Create, TableExistsOption::Fail);
        let some = |batches: Vec<RecordBatch>| stream::iter(batches.into_iter().map(Ok));
        let refused =
            client.execute_ingest(asked(TableNotExistOption::Fail, fail), some(vec![batch(0, 2)]));
        assert_eq!(failure(refused.await).0, Code::NotFound);
        let made =
            client.execute_ingest(asked(create, fail), some(vec![batch(0, 5), batch(5, 70_000)]));
        assert_eq!(made.await.unwrap(), 70_005);
        let again = client.execute_ingest(asked(create, fail), some(vec![batch(0, 2)]));
        assert_eq!(failure(again.await).0, Code::AlreadyExists);
        let more = client
            .execute_ingest(asked(create, TableExistsOption::Append), some(vec![batch(9, 1)]));
        assert_eq!(more.await.unwrap(), 1);
        let sums = "SELECT count(*), sum(k), count(\"odd \"\"name\") FROM \"In Gest\"";
        assert_eq!(rows_of(&mut client, sums).await, "70006|2450315019|46670");
        let other = client
            .execute_ingest(asked(create, TableExistsOption::Replace), some(vec![batch(1, 1)]));
        assert_eq!(other.await.unwrap(), 1);
        assert_eq!(rows_of(&mut client, sums).await, "1|1|1");
        // Nothing stays of what fails.
        client
            .execute_update("ALTER TABLE \"In Gest\" ADD CHECK (k < 50000)".into(), None)
            .await
            .unwrap();
        let bad = client
            .execute_ingest(asked(create, TableExistsOption::Append), some(vec![batch(2, 60_000)]));
        let (_, message) = failure(bad.await);
        assert!(message.contains("23514"), "{message}");
        assert_eq!(rows_of(&mut client, sums).await, "1|1|1");
    });
}

#[test]
fn who_hangs_up_while_ingesting_leaves_nothing() {
    let server = Running::start();
    on_runtime(async {
        let mut client = client_of_session(&server).await;
        client.execute_update("CREATE TABLE t (k bigint)".into(), None).await.unwrap();
        // More than is put into the table at a time, and then nothing for ever.
        let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(0..9_000_000));
        let batch = RecordBatch::try_from_iter([("k", keys)]).unwrap();
        let asked = CommandStatementIngest {
            table_definition_options: Some(TableDefinitionOptions {
                if_not_exist: i32::from(TableNotExistOption::Fail),
                if_exists: i32::from(TableExistsOption::Append),
            }),
            table: "t".into(),
            ..Default::default()
        };
        let rows = stream::iter([Ok(batch)]).chain(stream::pending());
        let mut sending = client.clone();
        let mut watch = Raw::connect(server.address);
        {
            let ingesting = sending.execute_ingest(asked, rows);
            tokio::pin!(ingesting);
            let open = "SELECT count(*) FROM nodewise.transactions WHERE rows_changed > 0";
            for round in 0.. {
                assert!(round < 1_000, "no part was put");
                let slice = tokio::time::timeout(Duration::from_millis(50), &mut ingesting).await;
                assert!(slice.is_err(), "it waits for rows: {slice:?}");
                if watch.value(open) != "0" {
                    break;
                }
            }
        }
        // The next call of the session commits nothing of it.
        assert_eq!(
            client.execute_update("INSERT INTO t VALUES (-1)".into(), None).await.unwrap(),
            1
        );
        assert_eq!(rows_of(&mut client, "SELECT count(*), max(k) FROM t").await, "1|-1");
    });
}

#[test]
fn the_catalog_is_told() {
    let server = Running::start();
    on_runtime(async {
        let mut client = client_of_session(&server).await;
        for text in [
            "CREATE SCHEMA s",
            "CREATE TABLE s.parent (b int, a int, PRIMARY KEY (a, b))",
            "CREATE TABLE child (x int, y int[], FOREIGN KEY (x) REFERENCES one (k) ON DELETE CASCADE)",
            "CREATE VIEW v AS SELECT 1 AS n",
        ] {
            if text.contains("REFERENCES") {
                client
                    .execute_update("CREATE TABLE one (k int PRIMARY KEY)".into(), None)
                    .await
                    .unwrap();
            }
            client.execute_update(text.into(), None).await.unwrap();
        }
        let info = client.get_catalogs().await.unwrap();
        assert_eq!(shown(&taken(&mut client, info).await.unwrap()), "nodewise");
        let asked =
            CommandGetDbSchemas { catalog: None, db_schema_filter_pattern: Some("s%".into()) };
        let info = client.get_db_schemas(asked).await.unwrap();
        assert_eq!(shown(&taken(&mut client, info).await.unwrap()), "nodewise|s");
        let asked = CommandGetTables { include_schema: true, ..Default::default() };
        let info = client.get_tables(asked).await.unwrap();
        let tables = taken(&mut client, info).await.unwrap();
        let names = tables[0].project(&[1, 2, 3]).unwrap();
        assert_eq!(
            shown(&[names]),
            "public|child|TABLE\npublic|one|TABLE\npublic|v|VIEW\ns|parent|TABLE"
        );
        let schemas = tables[0].column(4).as_binary::<i32>();
        let child = arrow_flight::IpcMessage(Bytes::copy_from_slice(schemas.value(0)));
        let child = arrow_schema::Schema::try_from(child).unwrap();
        let types: Vec<String> =
            child.fields().iter().map(|it| it.data_type().to_string()).collect();
        assert_eq!(types, ["Int32", "List(Int32)"]);
        let asked = CommandGetTables { table_types: vec!["VIEW".into()], ..Default::default() };
        let info = client.get_tables(asked).await.unwrap();
        assert_eq!(taken(&mut client, info).await.unwrap()[0].num_rows(), 1);
        let asked = CommandGetPrimaryKeys {
            catalog: None,
            db_schema: Some("s".into()),
            table: "parent".into(),
        };
        let info = client.get_primary_keys(asked).await.unwrap();
        let keys = shown(&taken(&mut client, info).await.unwrap());
        assert_eq!(keys, "nodewise|s|parent|a|1|parent_pkey\nnodewise|s|parent|b|2|parent_pkey");
        let expected = "nodewise|public|one|k|nodewise|public|child|x|1|child_x_fkey|one_pkey|3|0";
        let asked =
            CommandGetImportedKeys { catalog: None, db_schema: None, table: "child".into() };
        let info = client.get_imported_keys(asked).await.unwrap();
        assert_eq!(shown(&taken(&mut client, info).await.unwrap()), expected);
        let asked = CommandGetExportedKeys { catalog: None, db_schema: None, table: "one".into() };
        let info = client.get_exported_keys(asked).await.unwrap();
        assert_eq!(shown(&taken(&mut client, info).await.unwrap()), expected);
        let info = client.get_table_types().await.unwrap();
        assert_eq!(taken(&mut client, info).await.unwrap()[0].num_rows(), 4);
        let info = client.get_sql_info(vec![SqlInfo::FlightSqlServerName]).await.unwrap();
        assert_eq!(taken(&mut client, info).await.unwrap()[0].num_rows(), 1);
    });
}

#[test]
fn what_gives_rows_is_ended() {
    let server = Running::start();
    on_runtime(async {
        let mut client = client_of_session(&server).await;
        let made = "CREATE TABLE t AS SELECT i FROM generate_series(1, 30000) g(i)";
        client.execute_update(made.into(), None).await.unwrap();
        // Two hundred million rows.
        let endless = "SELECT t.i FROM t, generate_series(1, 7000) g(i)";
        let info = client.execute(endless.into(), None).await.unwrap();
        let ticket: Ticket = info.endpoint[0].ticket.clone().unwrap();
        let mut rows = client.do_get(ticket).await.unwrap();
        rows.next().await.unwrap().unwrap();
        let asked = ActionCancelQueryRequest { info: info.encode_to_vec().into() };
        let mut other = client_of_session(&server).await;
        let result = act(&mut other, "CancelQuery", asked.as_any()).await.unwrap();
        let result: ActionCancelQueryResult = result.unpack().unwrap().unwrap();
        assert_eq!(result.result, 1);
        let ended = loop {
            match rows.next().await {
                Some(Ok(_)) => {}
                other => break other,
            }
        };
        let error = ended.expect("an error").unwrap_err().to_string();
        assert!(error.contains("57014"), "{error}");
        let result = act(&mut other, "CancelQuery", asked.as_any()).await.unwrap();
        let result: ActionCancelQueryResult = result.unpack().unwrap().unwrap();
        assert_eq!(result.result, 3);
        // Rows that nobody takes any more are not made, and the session goes on.
        let info = client.execute(endless.into(), None).await.unwrap();
        let mut rows = client.do_get(info.endpoint[0].ticket.clone().unwrap()).await.unwrap();
        rows.next().await.unwrap().unwrap();
        drop(rows);
        assert_eq!(rows_of(&mut client, "SELECT 1").await, "1");
        let mut watch = Raw::connect(server.address);
        let running = "SELECT count(*) FROM nodewise.queries";
        for _ in 0..600 {
            if watch.value(running) == "1" {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("it still runs");
    });
}

#[test]
fn bytes_that_are_no_commands_do_no_harm() {
    let server = Running::start();
    on_runtime(async {
        let mut client = client_of_session(&server).await;
        let asked = arrow_flight::sql::CommandStatementQuery {
            query: "SELECT 1".into(),
            transaction_id: Some(Bytes::from_static(b"xyz")),
        };
        let good = asked.as_any().encode_to_vec();
        let mut random = Prng::new(7);
        for round in 0..2_000 {
            let mut bytes = good.clone();
            for _ in 0..1 + random.below(4) {
                let at = random.below(bytes.len() as u64) as usize;
                match random.below(3) {
                    0 => bytes[at] = random.below(256) as u8,
                    1 => bytes.truncate(at.max(1)),
                    _ => bytes.insert(at, random.below(256) as u8),
                }
            }
            let inner = client.inner_mut();
            let failed = match round % 4 {
                0 => inner.get_flight_info(FlightDescriptor::new_cmd(bytes)).await.err(),
                1 => inner.do_get(Ticket { ticket: bytes.into() }).await.err(),
                2 => {
                    let kind = ["CreatePreparedStatement", "EndTransaction", "CancelQuery"];
                    let kind = kind[random.below(3) as usize].to_owned();
                    inner.do_action(Action { r#type: kind, body: bytes.into() }).await.err()
                }
                _ => {
                    let first = arrow_flight::FlightData {
                        flight_descriptor: Some(FlightDescriptor::new_cmd(bytes.clone())),
                        data_header: bytes.into(),
                        ..Default::default()
                    };
                    inner.do_put(stream::iter([first])).await.err()
                }
            };
            if let Some(status) = failed {
                assert_ne!(status.code(), Code::Internal, "{status:?}");
                assert_ne!(status.code(), Code::Unknown, "{status:?}");
            }
        }
        assert_eq!(rows_of(&mut client, "SELECT 1").await, "1");
    });
}

#[test]
fn rows_out_come_in_again() {
    let server = Running::start();
    on_runtime(async {
        let mut client = client_of_session(&server).await;
        let text = "SELECT i, i * 2 AS twice, CASE WHEN i % 5 > 0 THEN repeat('x', i % 7) END AS t, \
            DATE '2024-01-01' + i AS d, (i / 3.0)::decimal(12, 4) AS m FROM generate_series(1, 10000) g(i)";
        let batches = query(&mut client, text).await.unwrap();
        let asked = CommandStatementIngest {
            table_definition_options: None,
            table: "again".into(),
            schema: Some("public".into()),
            catalog: None,
            temporary: false,
            transaction_id: None,
            options: Default::default(),
        };
        let rows = client.execute_ingest(asked, stream::iter(batches.into_iter().map(Ok))).await;
        assert_eq!(rows.unwrap(), 10_000);
        let differ = format!("SELECT count(*) FROM (TABLE again EXCEPT ALL ({text})) x");
        let found = query(&mut client, &differ).await.unwrap();
        assert_eq!(found[0].column(0).as_primitive::<Int64Type>().value(0), 0);
    });
}
