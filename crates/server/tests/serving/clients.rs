//! What a client of PostgreSQL gets: tokio-postgres, which prepares all it runs and takes values in binary.

use std::time::SystemTime;

use crate::common::Running;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

async fn connect(server: &Running) -> Client {
    let config = format!("host=127.0.0.1 port={} user=ada dbname=any", server.address.port());
    let (client, connection) = tokio_postgres::connect(&config, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

fn with_client<F: Future<Output = ()>>(body: impl FnOnce(Client) -> F) {
    let server = Running::start();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { body(connect(&server).await).await });
}

#[test]
fn values_of_all_types_go_and_come_in_binary() {
    with_client(|client| async move {
        let create = "CREATE TABLE t (b BOOLEAN, s SMALLINT, i INTEGER, l BIGINT, r REAL, d DOUBLE PRECISION, \
            v VARCHAR(10), c CHAR(3), x TEXT, m TIMESTAMP)";
        client.batch_execute(create).await.unwrap();
        let insert = client
            .prepare("INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)")
            .await
            .unwrap();
        let types: Vec<&Type> = insert.params().iter().collect();
        assert_eq!(types[..4], [&Type::BOOL, &Type::INT2, &Type::INT4, &Type::INT8]);
        let (s, i, l, r, d) = (-7_i16, 1_i32 << 30, i64::MIN, 0.5_f32, -1e300_f64);
        let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_micros(1_700_000_000_000_001);
        let rows = client
            .execute(&insert, &[&true, &s, &i, &l, &r, &d, &"v\u{e4}", &"c", &"", &time])
            .await
            .unwrap();
        assert_eq!(rows, 1);
        let (none, text) = (None::<bool>, None::<&str>);
        let empty: [&(dyn ToSql + Sync); 10] = [
            &none,
            &None::<i16>,
            &None::<i32>,
            &None::<i64>,
            &None::<f32>,
            &None::<f64>,
            &text,
            &text,
            &text,
            &None::<SystemTime>,
        ];
        client.execute(&insert, &empty).await.unwrap();
        let rows = client.query("SELECT * FROM t ORDER BY i", &[]).await.unwrap();
        let row = &rows[0];
        assert_eq!(row.columns()[6].type_(), &Type::VARCHAR);
        assert_eq!(row.columns()[7].type_(), &Type::BPCHAR);
        assert!(row.get::<_, bool>(0));
        assert_eq!((row.get::<_, i16>(1), row.get::<_, i32>(2), row.get::<_, i64>(3)), (s, i, l));
        assert_eq!((row.get::<_, f32>(4), row.get::<_, f64>(5)), (r, d));
        assert_eq!(row.get::<_, &str>(6), "v\u{e4}");
        assert_eq!((row.get::<_, &str>(7), row.get::<_, &str>(8)), ("c  ", ""));
        assert_eq!(row.get::<_, SystemTime>(9), time);
        assert_eq!(rows[1].get::<_, Option<i32>>("i"), None);
        let found = client.query("SELECT l FROM t WHERE v = $1 AND r < $2", &[&"v\u{e4}", &1_f32]);
        assert_eq!(found.await.unwrap().len(), 1);
    });
}

#[test]
fn transactions_and_errors_are_as_clients_expect() {
    with_client(|mut client| async move {
        client.batch_execute("CREATE TABLE t (i INTEGER PRIMARY KEY)").await.unwrap();
        let transaction = client.transaction().await.unwrap();
        transaction.execute("INSERT INTO t VALUES (1)", &[]).await.unwrap();
        let twice = transaction.execute("INSERT INTO t VALUES (1)", &[]).await.unwrap_err();
        assert_eq!(twice.code().unwrap().code(), "23505");
        let after = transaction.query("SELECT 1", &[]).await.unwrap_err();
        assert_eq!(after.code().unwrap().code(), "25P02");
        transaction.rollback().await.unwrap();
        let mut transaction = client.transaction().await.unwrap();
        let inner = transaction.savepoint("s").await.unwrap();
        inner.execute("INSERT INTO t VALUES (2)", &[]).await.unwrap();
        inner.rollback().await.unwrap();
        transaction.execute("INSERT INTO t VALUES ($1)", &[&3]).await.unwrap();
        transaction.commit().await.unwrap();
        let rows = client.query("SELECT i FROM t", &[]).await.unwrap();
        assert_eq!(rows.iter().map(|it| it.get(0)).collect::<Vec<i32>>(), [3]);
        let wrong = client.query("SELECT nope FROM t", &[]).await.unwrap_err();
        let error = wrong.as_db_error().unwrap();
        assert_eq!(error.code().code(), "42703");
        assert_eq!(error.position(), Some(&tokio_postgres::error::ErrorPosition::Original(8)));
        let messages = client.simple_query("SELECT i FROM t; DELETE FROM t").await.unwrap();
        let done: Vec<u64> = messages
            .iter()
            .filter_map(|it| match it {
                SimpleQueryMessage::CommandComplete(rows) => Some(*rows),
                _ => None,
            })
            .collect();
        assert_eq!(done, [1, 1]);
    });
}

#[test]
fn a_plan_whose_columns_have_changed_is_not_taken() {
    with_client(|client| async move {
        client.batch_execute("CREATE TABLE t (i INTEGER); INSERT INTO t VALUES (1)").await.unwrap();
        let statement = client.prepare("SELECT * FROM t").await.unwrap();
        client.query(&statement, &[]).await.unwrap();
        let again = "DROP TABLE t; CREATE TABLE t (i TEXT); INSERT INTO t VALUES ('a')";
        client.batch_execute(again).await.unwrap();
        let changed = client.query(&statement, &[]).await.unwrap_err();
        assert_eq!(changed.code().unwrap().code(), "0A000");
        // Limits, explanations and settings have rows or none as they say.
        let limited =
            client.query("SELECT i FROM t WHERE i = $2 LIMIT $1", &[&1_i64, &"a"]).await.unwrap();
        assert_eq!(limited.len(), 1);
        let shown = client.query_one("SHOW server_version", &[]).await.unwrap();
        assert!(shown.get::<_, &str>(0).starts_with("18."));
        assert!(!client.query("EXPLAIN SELECT 1", &[]).await.unwrap().is_empty());
        assert!(client.query("SET application_name = 'x'", &[]).await.unwrap().is_empty());
    });
}

#[test]
fn arrays_go_and_come_in_binary() {
    with_client(|client| async move {
        client.batch_execute("CREATE TABLE t (i INTEGER[], x TEXT[], d DATE[])").await.unwrap();
        let (numbers, texts) = (vec![Some(1), None, Some(-3)], vec!["a", "b, \"c\"", ""]);
        let insert = "INSERT INTO t VALUES ($1, $2, NULL), ($3, '{}', '{2000-01-01}')";
        client.execute(insert, &[&numbers, &texts, &None::<Vec<i32>>]).await.unwrap();
        let rows = client.query("SELECT i, x, d FROM t ORDER BY i", &[]).await.unwrap();
        assert_eq!(rows[0].columns()[0].type_(), &Type::INT4_ARRAY);
        assert_eq!(rows[0].get::<_, Vec<Option<i32>>>(0), numbers);
        assert_eq!(rows[0].get::<_, Vec<String>>(1), texts);
        assert_eq!(rows[1].get::<_, Option<Vec<i32>>>(0), None);
        assert!(rows[1].get::<_, Vec<String>>(1).is_empty());
        let found = "SELECT g FROM generate_series(1, 5) AS g WHERE g = ANY($1) ORDER BY g";
        for (wanted, expected) in [(vec![5, 2, 9], vec![2, 5]), (vec![], vec![])] {
            let rows = client.query(found, &[&wanted]).await.unwrap();
            let found: Vec<i32> = rows.iter().map(|it| it.get(0)).collect();
            assert_eq!(found, expected);
        }
        let count = "SELECT count(*) FROM unnest($1::TEXT[]) x";
        let all = client.query_one(count, &[&texts]).await.unwrap();
        assert_eq!(all.get::<_, i64>(0), 3);
    });
}
