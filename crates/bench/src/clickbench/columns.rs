//! The 105 columns of the table, as [`Hit`]s give them.

use arrow_array::{
    ArrayRef, Date32Array, Int16Array, Int64Array, RecordBatch, TimestampMicrosecondArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use stdx::sync::Arc;

use super::hit::Hit;
use super::words::words;
use crate::made::{numbers as number, texts as text};

fn small(hits: &[Hit], value: impl Fn(&Hit) -> i16) -> ArrayRef {
    Arc::new(Int16Array::from_iter_values(hits.iter().map(value)))
}

fn big(hits: &[Hit], value: impl Fn(&Hit) -> i64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(hits.iter().map(value)))
}

fn date(hits: &[Hit], second: impl Fn(&Hit) -> i64) -> ArrayRef {
    let days = hits.iter().map(|it| (second(it) / 86_400) as i32);
    Arc::new(Date32Array::from_iter_values(days))
}

fn time(hits: &[Hit], second: impl Fn(&Hit) -> i64) -> ArrayRef {
    let micros = hits.iter().map(|it| second(it) * 1_000_000);
    Arc::new(TimestampMicrosecondArray::from_iter_values(micros))
}

/// A hash of a text, the same everywhere (FNV-1a).
fn hash_of(write: impl Fn(&mut String)) -> i64 {
    let mut text = String::new();
    write(&mut text);
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step) as i64
}

const TIME: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);

macro_rules! type_of {
    (small) => {
        DataType::Int16
    };
    (number) => {
        DataType::Int32
    };
    (big) => {
        DataType::Int64
    };
    (date) => {
        DataType::Date32
    };
    (time) => {
        TIME
    };
    (text) => {
        DataType::Utf8View
    };
}

macro_rules! columns {
    ($($name:ident $kind:ident = $value:expr;)+) => {
        /// The columns.
        pub fn schema() -> SchemaRef {
            let fields = vec![$(Field::new(stringify!($name), type_of!($kind), false)),+];
            SchemaRef::new(Schema::new(fields))
        }

        /// Some rows of them.
        pub fn batch(schema: SchemaRef, hits: &[Hit]) -> Result<RecordBatch, ArrowError> {
            RecordBatch::try_new(schema, vec![$($kind(hits, $value)),+])
        }
    };
}

/// Writes a word in a share of all rows, else nothing.
fn rarely(hit: &Hit, salt: u64, of_ten_thousand: u64, values: u64, out: &mut String) {
    if hit.dice.chance(salt, of_ten_thousand) {
        let which = crate::dice::Dice::of(salt, hit.dice.skewed(salt + 1, values, 3));
        words(which, 1, true, '-', out);
    }
}

/// A number of milliseconds of a step of loading the page; few pages tell.
fn timing(hit: &Hit, salt: u64, most: u64) -> i32 {
    if hit.dice.chance(salt, 3000) { hit.dice.skewed(salt + 1, most, 4) as i32 } else { 0 }
}

fn flag(hit: &Hit, salt: u64, of_ten_thousand: u64) -> i16 {
    i16::from(hit.dice.chance(salt, of_ten_thousand))
}

columns! {
    watch_id big = |hit| (hit.dice.bits(20) >> 1) as i64;
    java_enable small = |hit| i16::from(hit.user.chance(20, 8000));
    title text = Hit::title;
    good_event small = |_| 1;
    event_time time = |hit| hit.second;
    event_date date = |hit| hit.second;
    counter_id number = Hit::counter;
    client_ip number = |hit| hit.user.bits(21) as i32;
    region_id number = |hit| hit.user.skewed(22, 9_000, 3) as i32;
    user_id big = |hit| (hit.user.bits(23) >> 1) as i64;
    counter_class small = |hit| i16::from(hit.site % 50 == 0);
    os small = |hit| hit.user.skewed(24, 90, 3) as i16;
    user_agent small = |hit| hit.user.skewed(25, 80, 2) as i16;
    url text = Hit::url;
    referer text = Hit::referer;
    is_refresh small = |hit| flag(hit, 26, 1200);
    referer_category_id small = |hit| hit.dice.skewed(27, 16_000, 6) as i16;
    referer_region_id number = |hit| hit.dice.skewed(28, 9_000, 4) as i32;
    url_category_id small = |hit| (hit.site * 7 % 16_000) as i16;
    url_region_id number = |hit| (hit.site * 13 % 9_000) as i32;
    resolution_width small = |hit| hit.user.one_of(29, &[0, 1024, 1280, 1366, 1440, 1600, 1680, 1920, 2560]);
    resolution_height small = |hit| hit.user.one_of(30, &[0, 600, 768, 800, 900, 1024, 1050, 1080, 1200]);
    resolution_depth small = |hit| hit.user.one_of(31, &[0, 16, 24, 32, 32, 32]);
    flash_major small = |hit| hit.user.skewed(32, 13, 2) as i16;
    flash_minor small = |hit| hit.user.skewed(33, 10, 3) as i16;
    flash_minor2 text = |hit, out| if hit.user.chance(34, 6000) { out.push_str("700") };
    net_major small = |hit| hit.user.skewed(35, 5, 2) as i16;
    net_minor small = |hit| hit.user.skewed(36, 10, 3) as i16;
    user_agent_major small = |hit| hit.user.skewed(37, 80, 2) as i16;
    user_agent_minor text = |hit, out| words(crate::dice::Dice::of(38, hit.user.skewed(38, 120, 3)), 1, true, ' ', out);
    cookie_enable small = |hit| i16::from(hit.user.chance(39, 9900));
    javascript_enable small = |hit| i16::from(hit.user.chance(40, 9950));
    is_mobile small = |hit| i16::from(hit.mobile);
    mobile_phone small = |hit| if hit.mobile { hit.user.skewed(41, 90, 2) as i16 } else { 0 };
    mobile_phone_model text = |hit, out| if hit.mobile && hit.user.chance(42, 6000) {
        words(crate::dice::Dice::of(43, hit.user.skewed(43, 160, 3)), 2, true, ' ', out);
    };
    params text = |hit, out| rarely(hit, 44, 400, 5_000, out);
    ip_network_id number = |hit| hit.user.skewed(46, 4_000_000, 2) as i32;
    trafic_source_id small = Hit::source;
    search_engine_id small = |hit| if hit.searched() { 1 + hit.dice.skewed(47, 60, 4) as i16 } else { 0 };
    search_phrase text = Hit::phrase;
    adv_engine_id small = Hit::advertised;
    is_artifical small = |hit| flag(hit, 48, 200);
    window_client_width small = |hit| 300 + hit.user.skewed(49, 2_000, 1) as i16;
    window_client_height small = |hit| 200 + hit.user.skewed(50, 1_000, 1) as i16;
    client_time_zone small = |hit| hit.user.one_of(51, &[120, 180, 240, 240, 240, 300, 360, 420]);
    client_event_time time = |hit| hit.second + hit.user.skewed(52, 7_200, 6) as i64 - 600;
    silverlight_version1 small = |hit| if hit.user.chance(53, 2500) { 5 } else { 0 };
    silverlight_version2 small = |hit| if hit.user.chance(53, 2500) { 1 } else { 0 };
    silverlight_version3 number = |hit| if hit.user.chance(53, 2500) { 20_125 } else { 0 };
    silverlight_version4 small = |_| 0;
    page_charset text = |hit, out| out.push_str(if hit.site % 3 == 0 { "windows-1251" } else { "utf-8" });
    code_version number = |hit| 200 + (hit.site % 40) as i32 * 13;
    is_link small = |hit| flag(hit, 54, 700);
    is_download small = |hit| flag(hit, 55, 60);
    is_not_bounce small = |hit| flag(hit, 56, 2500);
    f_uniq_id big = |hit| if hit.user.chance(57, 7000) { (hit.user.bits(58) >> 1) as i64 } else { 0 };
    original_url text = |hit, out| if hit.dice.chance(59, 1500) { hit.url(out) };
    hid number = |hit| (hit.dice.bits(60) >> 33) as i32;
    is_old_counter small = |_| 0;
    is_event small = |hit| flag(hit, 61, 300);
    is_parameter small = |hit| flag(hit, 62, 100);
    dont_count_hits small = |hit| flag(hit, 63, 700);
    with_hash small = |hit| flag(hit, 64, 200);
    hit_color text = |hit, out| out.push_str(hit.dice.one_of(65, &["5", "5", "5", "g", "E", "C"]));
    local_event_time time = |hit| hit.second + i64::from(hit.user.one_of(51, &[2, 3, 4, 4, 4, 5, 6, 7])) * 3_600;
    age small = |hit| hit.user.one_of(66, &[0, 0, 0, 16, 22, 31, 39, 50]);
    sex small = |hit| hit.user.one_of(67, &[0, 0, 1, 2]);
    income small = |hit| hit.user.one_of(68, &[0, 0, 0, 1, 2, 3]);
    interests small = |hit| if hit.user.chance(69, 4000) { hit.user.below(70, 32_000) as i16 } else { 0 };
    robotness small = |hit| hit.user.skewed(71, 100, 8) as i16;
    remote_ip number = |hit| hit.user.bits(72) as i32;
    window_name number = |hit| if hit.dice.chance(73, 3000) { hit.dice.bits(74) as i32 } else { -1 };
    opener_name number = |hit| if hit.dice.chance(75, 1500) { hit.dice.bits(76) as i32 } else { -1 };
    history_length small = |hit| hit.dice.skewed(77, 50, 4) as i16;
    browser_language text = |hit, out| out.push_str(hit.user.one_of(78, &["ru", "ru", "ru", "en", "uk", "S0", "tr"]));
    browser_country text = |hit, out| out.push_str(hit.user.one_of(79, &["RU", "RU", "UA", "US", "KZ", "TR", ""]));
    social_network text = |hit, out| rarely(hit, 80, 10, 8, out);
    social_action text = |hit, out| rarely(hit, 82, 10, 5, out);
    http_error small = |hit| if hit.dice.chance(84, 20) { 404 } else { 0 };
    send_timing number = |hit| timing(hit, 85, 30_000);
    dns_timing number = |hit| timing(hit, 87, 10_000);
    connect_timing number = |hit| timing(hit, 89, 10_000);
    response_start_timing number = |hit| timing(hit, 91, 30_000);
    response_end_timing number = |hit| timing(hit, 93, 60_000);
    fetch_timing number = |hit| timing(hit, 95, 60_000);
    social_source_network_id small = |hit| if hit.dice.chance(97, 40) { hit.dice.below(98, 12) as i16 } else { 0 };
    social_source_page text = |hit, out| if hit.dice.chance(97, 40) { hit.referer(out) };
    param_price big = |hit| if hit.dice.chance(99, 30) { hit.dice.skewed(100, 500_000, 4) as i64 } else { 0 };
    param_order_id text = |hit, out| if hit.dice.chance(99, 30) { out.push_str(&hit.dice.bits(101).to_string()) };
    param_currency text = |hit, out| out.push_str(if hit.dice.chance(99, 30) { "RUB" } else { "NH" });
    param_currency_id small = |hit| if hit.dice.chance(99, 30) { 643 } else { 0 };
    openstat_service_name text = |hit, out| rarely(hit, 102, 100, 6, out);
    openstat_campaign_id text = |hit, out| rarely(hit, 104, 100, 4_000, out);
    openstat_ad_id text = |hit, out| rarely(hit, 106, 100, 20_000, out);
    openstat_source_id text = |hit, out| rarely(hit, 108, 100, 3_000, out);
    utm_source text = |hit, out| rarely(hit, 110, 400, 300, out);
    utm_medium text = |hit, out| rarely(hit, 112, 400, 20, out);
    utm_campaign text = |hit, out| rarely(hit, 114, 400, 5_000, out);
    utm_content text = |hit, out| rarely(hit, 116, 200, 20_000, out);
    utm_term text = |hit, out| rarely(hit, 118, 200, 20_000, out);
    from_tag text = |hit, out| rarely(hit, 120, 50, 100, out);
    has_gclid small = |hit| flag(hit, 122, 30);
    referer_hash big = |hit| hash_of(|out| hit.referer(out));
    url_hash big = |hit| hash_of(|out| hit.url(out));
    clid number = |hit| if hit.dice.chance(123, 200) { hit.dice.skewed(124, 2_000_000, 2) as i32 } else { 0 };
}
