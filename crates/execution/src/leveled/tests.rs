//! Each level against loops as plain as can be.

use stdx::Prng;

use super::*;

fn numbers(rows: usize, below: u64, prng: &mut Prng) -> Vec<u64> {
    (0..rows).map(|_| prng.below(below)).collect()
}

const SIZES: [usize; 10] = [0, 1, 7, 8, 15, 64, 65, 127, 1000, 4096];

#[test]
fn values_come_one_per_row_at_every_level() {
    let mut prng = Prng::new(1);
    for rows in SIZES {
        let left: Vec<i64> = (0..rows).map(|_| prng.next_u64() as i64).collect();
        let right: Vec<i64> = (0..rows + 3).map(|_| prng.next_u64() as i64).collect();
        let negated: Vec<i64> = left.iter().map(|it| it.wrapping_neg()).collect();
        let products: Vec<i64> = left.iter().zip(&right).map(|(a, b)| a.wrapping_mul(*b)).collect();
        for level in Level::available() {
            assert_eq!(map1(level, &left, i64::wrapping_neg), negated, "{level:?}");
            assert_eq!(map2(level, &left, &right, i64::wrapping_mul), products, "{level:?}");
            assert_eq!(
                extent(level, &left),
                left.iter().min().copied().zip(left.iter().max().copied())
            );
            let total = left.iter().fold(0i64, |sum, it| sum.wrapping_add(*it));
            assert_eq!(sum(level, &left), total, "{level:?}");
            let mut words = vec![u64::MAX; rows];
            put(level, &mut words, &left, true, |it| it as u64 & 0xff);
            put(level, &mut words, &right[..rows], false, |it| (it as u64 & 0xff) << 8);
            for (row, word) in words.iter().enumerate() {
                let expected = left[row] as u64 & 0xff | (right[row] as u64 & 0xff) << 8;
                assert_eq!(*word, expected, "{level:?}");
            }
            for wanted in left.iter().take(3).chain(&[5]) {
                assert_eq!(any(level, &left, |it| it == *wanted), left.contains(wanted));
            }
        }
    }
}

#[test]
fn runs_are_numbered_counted_and_added_as_row_by_row() {
    let mut prng = Prng::new(2);
    for round in 0..300 {
        let (mut known, mut counts, mut sums) = (Vec::new(), Vec::new(), Vec::new());
        // By group: key, rows, sum.
        let mut expected: Vec<(u64, i64, i64)> = Vec::new();
        let mut found = Vec::new();
        let mut least = 0;
        for _ in 0..1 + prng.below(4) {
            let rows = SIZES[prng.below(9) as usize];
            let mut keys = numbers(rows, 1 + (rows as u64) * (round % 3) / 2, &mut prng);
            keys.sort_unstable();
            keys.iter_mut().for_each(|it| *it += least);
            least = keys.last().copied().unwrap_or(least);
            let values: Vec<i64> = (0..rows).map(|_| prng.next_u64() as i64 >> 20).collect();
            let goes_on = prng.below(3) > 0;
            let mut numbers = Vec::new();
            numbers_of_runs(&keys, goes_on, &mut known, &mut numbers);
            for (row, (&key, &value)) in keys.iter().zip(&values).enumerate() {
                match expected.last_mut() {
                    Some(last) if last.0 == key && (goes_on || row > 0) => {
                        (last.1, last.2) = (last.1 + 1, last.2 + value);
                    }
                    _ => expected.push((key, 1, value)),
                }
                assert_eq!(numbers[row] as usize, expected.len() - 1);
            }
            counts.resize(known.len(), 0);
            sums.resize(known.len(), 0);
            count_runs(&mut counts, &numbers);
            add_runs(&mut sums, &numbers, &values);
            found.push(rows);
        }
        assert_eq!(known, expected.iter().map(|it| it.0).collect::<Vec<_>>(), "{found:?}");
        assert_eq!(counts, expected.iter().map(|it| it.1).collect::<Vec<_>>(), "{found:?}");
        assert_eq!(sums, expected.iter().map(|it| it.2).collect::<Vec<_>>(), "{found:?}");
    }
}

#[test]
fn a_fall_is_seen_wherever_it_is() {
    let mut prng = Prng::new(3);
    for rows in SIZES {
        let mut keys = numbers(rows, 1 << 40, &mut prng);
        keys.sort_unstable();
        for level in Level::available() {
            assert!(rises(level, &keys), "{level:?}");
            for place in 1..rows.min(200) {
                let mut keys = keys.clone();
                keys[place] = keys[place - 1].wrapping_sub(1);
                assert_eq!(rises(level, &keys), keys[place - 1] == 0, "{level:?}, row {place}");
            }
        }
    }
}

#[test]
fn sums_under_masks_are_those_of_row_by_row() {
    let mut prng = Prng::new(4);
    for groups in 1..=FEW_GROUPS {
        for rows in SIZES {
            let ids: Vec<u32> = (0..rows).map(|_| prng.below(groups as u64) as u32).collect();
            let values: Vec<i64> = (0..rows).map(|_| prng.next_u64() as i64).collect();
            let mut expected: Vec<i64> = (0..groups as i64).collect();
            let mut portable: Vec<u64> = vec![0; rows.div_ceil(64) * groups];
            for (row, (&id, &value)) in ids.iter().zip(&values).enumerate() {
                expected[id as usize] = expected[id as usize].wrapping_add(value);
                portable[id as usize * rows.div_ceil(64) + row / 64] |= 1 << (row % 64);
            }
            for level in Level::available() {
                let mut masks = vec![7];
                if group_masks(level, &ids, groups, &mut masks) {
                    assert_eq!(masks, portable, "{level:?}: {rows} rows of {groups} groups");
                }
                let mut sums: Vec<i64> = (0..groups as i64).collect();
                add_by_masks(level, &mut sums, &portable, &values);
                assert_eq!(sums, expected, "{level:?}: {rows} rows of {groups} groups");
            }
        }
    }
}

#[test]
fn slots_are_places_and_ranks_of_the_keys_that_are_there() {
    let mut prng = Prng::new(5);
    for rows in SIZES {
        let min = prng.next_u64() as i64;
        let span = 1 + prng.below(300);
        let mut bitmap = vec![0; span.div_ceil(64) as usize];
        let set: Vec<u64> = (0..span).filter(|_| prng.below(3) == 0).collect();
        set.iter().for_each(|&it| bitmap[it as usize / 64] |= 1 << (it % 64));
        let keys: Vec<i64> = (0..rows)
            .map(|_| match prng.below(8) {
                0 => prng.next_u64() as i64,
                _ => min.wrapping_add(prng.below(span + 80) as i64 - 40),
            })
            .collect();
        let place = |key: &i64| key.wrapping_sub(min) as u64;
        let hits = || (0..rows as u32).filter(|&row| set.contains(&place(&keys[row as usize])));
        let expected: Vec<u32> = hits().collect();
        let places: Vec<u32> = hits().map(|row| place(&keys[row as usize]) as u32).collect();
        let rank = |it: &u32| set.iter().position(|key| key == &u64::from(*it)).unwrap() as u32;
        for level in Level::available() {
            let mut ranks = vec![9; bitmap.len()];
            assert_eq!(ranks_of(level, &bitmap, 0, &mut ranks), set.len());
            let (mut found, mut slots) = (vec![0; rows], vec![0; rows]);
            let count = find_ranks(level, &keys, min, &bitmap, &ranks, &mut found, &mut slots);
            assert_eq!(found[..count], expected, "{level:?}");
            assert_eq!(slots[..count], places.iter().map(rank).collect::<Vec<u32>>(), "{level:?}");
            let count = find_places(level, &keys, min, &bitmap, &mut found, &mut slots);
            assert_eq!((&found[..count], &slots[..count]), (&expected[..], &places[..]));
        }
    }
}

#[test]
fn values_are_scaled_as_one_by_one() {
    let mut prng = Prng::new(8);
    for rows in SIZES {
        let values: Vec<i64> = (0..rows).map(|_| prng.next_u64() as i64).collect();
        let (factor, more) = (prng.next_u64() as i64, prng.next_u64() as i64);
        let expected: Vec<i64> =
            values.iter().map(|it| it.wrapping_mul(factor).wrapping_add(more)).collect();
        for level in Level::available() {
            let mut scaled = values.clone();
            scale(level, &mut scaled, factor, more);
            assert_eq!(scaled, expected, "{level:?}");
        }
    }
}

#[test]
fn entries_are_looked_up_as_one_by_one() {
    let mut prng = Prng::new(6);
    for round in 0..200 {
        let len = 1 + prng.below([8, 32, 100][round % 3]) as usize;
        let base = prng.below(1 << 60);
        let some = prng.below(2) == 0;
        let entries: Vec<u32> =
            (0..len).map(|it| if some && prng.below(4) == 0 { 0 } else { it as u32 + 1 }).collect();
        let rows = SIZES[prng.below(9) as usize];
        let keys: Vec<u64> = (0..rows).map(|_| base + prng.below(len as u64)).collect();
        let expected: Vec<u32> =
            keys.iter().map(|it| entries[(it - base) as usize].wrapping_sub(1)).collect();
        for level in Level::available() {
            let mut found = vec![7; rows];
            let all = look_up(level, &keys, base, &entries, &mut found);
            assert_eq!(found, expected, "{level:?}, {len} entries");
            assert_eq!(all, !expected.contains(&u32::MAX));
        }
    }
}

#[test]
fn texts_are_found_where_they_first_stand() {
    let mut prng = Prng::new(12);
    for round in 0..600 {
        let letters = 1 + prng.below(3);
        let mut text = |len: u64| -> Vec<u8> {
            (0..len).map(|_| b'a' + prng.below(letters + 1) as u8).collect()
        };
        let (text, needle) = (text([9, 70, 300][round % 3]), text(1 + round as u64 % 9));
        let finder = memchr::memmem::Finder::new(&needle);
        for at in [0, 1, 7, 64, text.len(), text.len() + 1] {
            let places = at..(text.len() + 1).saturating_sub(needle.len());
            let expected = places.clone().find(|&it| text[it..].starts_with(&needle));
            for level in Level::available() {
                assert_eq!(find(level, &finder, &text, at), expected, "{level:?} from {at}");
            }
        }
    }
}

#[test]
fn keys_of_a_byte_make_masks_as_row_by_row() {
    let mut prng = Prng::new(21);
    for rows in [0, 1, 63, 64, 65, 1000, PACKED_ROWS] {
        for known in 0..=FEW_GROUPS {
            let keys: Vec<u8> = (0..rows).map(|_| prng.below(9) as u8 * 31).collect();
            let wanted: Vec<u8> = (0..known).map(|it| it as u8 * 31).collect();
            let words = rows.div_ceil(64);
            let selected: Vec<u64> = (0..words)
                .map(|it| prng.next_u64() & bitpack::bitmap::tail_mask((rows - it * 64).min(64)))
                .collect();
            let is_in = |row: usize| selected[row / 64] >> (row % 64) & 1 == 1;
            let other = (0..rows).find(|&row| is_in(row) && !wanted.contains(&keys[row]));
            for level in Level::available() {
                let mut masks = vec![u64::MAX; words * known];
                assert_eq!(
                    key_masks(level, &keys, &wanted, &selected, &mut masks),
                    other,
                    "{level:?}"
                );
                for (group, &key) in wanted.iter().enumerate() {
                    for row in 0..rows {
                        let bit = masks[group * words + row / 64] >> (row % 64) & 1 == 1;
                        assert_eq!(bit, is_in(row) && keys[row] == key, "{level:?}: row {row}");
                    }
                }
            }
        }
    }
}

#[test]
fn packed_values_are_added_under_masks_as_row_by_row() {
    let mut prng = Prng::new(22);
    for rows in [0, 1, 15, 16, 17, 64, 100, 1000, PACKED_ROWS] {
        for groups in 1..=FEW_GROUPS {
            for count in 0..7 {
                let highs = [0, 1 << 20, u32::MAX / 64, u32::MAX / 64 + 1, u32::MAX];
                let high: Vec<u32> = (0..count).map(|_| highs[prng.below(5) as usize]).collect();
                // Mostly the greatest, where lanes overflow first if they do.
                let mut value = |high: u32| match prng.below(4) {
                    0 => prng.below(u64::from(high) + 1) as u32,
                    _ => high,
                };
                let values: Vec<Vec<u32>> =
                    high.iter().map(|&high| (0..rows).map(|_| value(high)).collect()).collect();
                let bytes: Vec<Vec<u8>> =
                    values.iter().map(|it| it.iter().map(|&it| it as u8).collect()).collect();
                let as_bytes: Vec<bool> = (0..count).map(|_| prng.below(3) == 0).collect();
                let addends: Vec<Addends<'_>> = (0..count)
                    .map(|it| match as_bytes[it] {
                        true => Addends::Bytes(&bytes[it]),
                        false => Addends::Words { values: &values[it], high: high[it] },
                    })
                    .collect();
                let words = rows.div_ceil(64);
                let mut masks = vec![0u64; words * groups];
                let mut expected: Vec<Vec<i64>> = vec![(0..groups as i64).collect(); count];
                for row in 0..rows {
                    let group = prng.below(groups as u64 + 1) as usize;
                    if group < groups {
                        masks[group * words + row / 64] |= 1 << (row % 64);
                        for it in 0..count {
                            let byte = i64::from(bytes[it][row]);
                            let word = i64::from(values[it][row]);
                            expected[it][group] += if as_bytes[it] { byte } else { word };
                        }
                    }
                }
                for level in Level::available() {
                    let mut sums: Vec<Vec<i64>> = vec![(0..groups as i64).collect(); count];
                    let mut places: Vec<&mut [i64]> =
                        sums.iter_mut().map(|it| &mut it[..]).collect();
                    add_packed(level, &mut places, &masks, rows, &addends);
                    assert_eq!(sums, expected, "{level:?}: {rows} rows up to {high:?}");
                }
            }
        }
    }
}

#[test]
fn narrow_values_are_written_as_one_by_one() {
    let mut prng = Prng::new(23);
    for rows in SIZES {
        let left: Vec<u32> = (0..rows).map(|_| prng.next_u64() as u32).collect();
        let right: Vec<u32> = (0..rows).map(|_| prng.next_u64() as u32).collect();
        let (step, base) = (1 + prng.below(3) as u32, prng.next_u64() as u32);
        let wide = |a: u32, b: u32| i64::from(a).wrapping_mul(i64::from(b));
        let bytes: Vec<u8> = left.iter().map(|it| (it % 16) as u8).collect();
        for level in Level::available() {
            let mut scaled = left.clone();
            scale_u32(level, &mut scaled, step, base);
            let mut products = vec![0i64; rows];
            write2(level, &left, &right, &mut products, wide);
            let mut negated = vec![0i64; rows];
            write1(level, &left, &mut negated, |it| -i64::from(it));
            let mut keys = vec![1u8; rows];
            put_bytes(level, &mut keys, &bytes, 255, 16);
            for row in 0..rows {
                assert_eq!(
                    scaled[row],
                    left[row].wrapping_mul(step).wrapping_add(base),
                    "{level:?}"
                );
                assert_eq!(products[row], wide(left[row], right[row]), "{level:?}");
                assert_eq!(negated[row], -i64::from(left[row]), "{level:?}");
                assert_eq!(keys[row], 1 | bytes[row].wrapping_sub(1).wrapping_mul(16), "{level:?}");
            }
        }
    }
}

#[test]
fn runs_of_narrow_keys_begin_and_are_summed_as_row_by_row() {
    let mut prng = Prng::new(24);
    for round in 0..200 {
        let rows = [0, 1, 2, 15, 16, 17, 63, 64, 65, 500, PACKED_ROWS][round % 11];
        let repeats = 1 + prng.below(5);
        let mut key = prng.below(3) as u32;
        let mut next = || {
            key += u32::from(prng.below(repeats) == 0);
            key
        };
        let keys: Vec<u32> = (0..rows).map(|_| next()).collect();
        let values: Vec<u32> = (0..rows).map(|_| prng.next_u64() as u32).collect();
        let before = [None, Some(0), Some(1)][round % 3];
        let known = |row: usize| if row == 0 { before } else { Some(keys[row - 1]) };
        let starts: Vec<usize> = (0..rows).filter(|&it| known(it) != Some(keys[it])).collect();
        let carry = prng.next_u64() as u32;
        let sum = |rows: &[u32]| rows.iter().fold(carry, |sum, it| sum.wrapping_add(*it));
        let sums: Vec<u32> = starts.iter().map(|&it| sum(&values[..it])).collect();
        for level in Level::available() {
            let mut found = vec![u64::MAX; rows.div_ceil(64)];
            run_starts(level, &keys, before, &mut found);
            assert_eq!(bitpack::bitmap::iter(&found).collect::<Vec<_>>(), starts, "{level:?}");
            let (mut total, mut out) = (carry, vec![7; starts.len() + SLACK]);
            assert_eq!(sums_before(level, &values, &found, &mut total, &mut out), starts.len());
            assert_eq!((&out[..starts.len()], total), (&sums[..], sum(&values)), "{level:?}");
        }
    }
}
