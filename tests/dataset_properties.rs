//! Dataset pipelines in any order of stages, against a plain model over vectors.

use proptest::prelude::*;
use tpulab::data::{Cardinality, Position};
use tpulab::prelude::*;

/// One stage of a pipeline, but shuffles, which the model cannot foresee.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Repeat(u64),
    Take(u64),
    Skip(u64),
    Batch(usize, Remainder),
    AddOne,
    Prefetch,
}

fn stage() -> impl Strategy<Value = Stage> {
    prop_oneof![
        (0u64..4).prop_map(Stage::Repeat),
        (0u64..12).prop_map(Stage::Take),
        (0u64..6).prop_map(Stage::Skip),
        (1usize..5, any::<bool>())
            .prop_map(|(size, keep)| Stage::Batch(size, if keep { Remainder::Keep } else { Remainder::Drop })),
        Just(Stage::AddOne),
        Just(Stage::Prefetch),
    ]
}

fn source(rows: usize) -> Result<Dataset> {
    let x: Vec<i64> = (0..rows as i64).collect();
    let labels: Vec<i32> = (0..rows as i32).map(|row| -row).collect();
    Dataset::from_tensor_slices((Frame::new([("x", Column::from(x))])?, Column::from(labels)))
}

fn apply(dataset: Dataset, stage: Stage) -> Dataset {
    match stage {
        Stage::Repeat(times) => dataset.repeat_times(times),
        Stage::Take(count) => dataset.take(count),
        Stage::Skip(count) => dataset.skip(count),
        Stage::Batch(size, remainder) => dataset.batch(size, remainder),
        Stage::AddOne => dataset.map(|mut element| {
            let x = element.feature("x")?;
            let plus_one = x.as_slice::<i64>()?.iter().map(|x| x + 1).collect();
            let plus_one = Array::from_vec(x.shape(), plus_one)?;
            element.set_feature("x", plus_one);
            Ok(element)
        }),
        Stage::Prefetch => dataset.prefetch(2),
    }
}

/// An element: its numbers, and its shape.
type Element = (Vec<i64>, Vec<usize>);

/// The same stages over vectors; the shape of an element is `None` where elements of different shapes met in a batch.
fn model(rows: usize, stages: &[Stage]) -> Vec<(Vec<i64>, Option<Vec<usize>>)> {
    let mut elements: Vec<_> = (0..rows as i64).map(|row| (vec![row], Some(vec![]))).collect();
    for stage in stages {
        elements = match *stage {
            Stage::Repeat(times) => (0..times).flat_map(|_| elements.clone()).collect(),
            Stage::Take(count) => elements.into_iter().take(count as usize).collect(),
            Stage::Skip(count) => elements.into_iter().skip(count as usize).collect(),
            Stage::Batch(size, remainder) => {
                let kept = |part: &&[_]| part.len() == size || remainder == Remainder::Keep;
                elements.chunks(size).filter(kept).map(stack).collect()
            }
            Stage::AddOne => {
                elements.into_iter().map(|(x, shape)| (x.into_iter().map(|x| x + 1).collect(), shape)).collect()
            }
            Stage::Prefetch => elements,
        };
    }
    elements
}

fn stack(part: &[(Vec<i64>, Option<Vec<usize>>)]) -> (Vec<i64>, Option<Vec<usize>>) {
    let inner = part[0].1.clone().filter(|inner| part.iter().all(|(_, shape)| shape.as_ref() == Some(inner)));
    let shape = inner.map(|inner| [vec![part.len()], inner].concat());
    (part.iter().flat_map(|(numbers, _)| numbers.clone()).collect(), shape)
}

/// The model's elements, if each has a shape.
fn whole(elements: Vec<(Vec<i64>, Option<Vec<usize>>)>) -> Option<Vec<Element>> {
    elements.into_iter().map(|(numbers, shape)| Some((numbers, shape?))).collect()
}

fn read(iterator: impl Iterator<Item = Result<Batch>>) -> Result<Vec<Element>> {
    iterator
        .map(|batch| {
            let batch = batch?;
            let x = batch.feature("x")?;
            assert_eq!(batch.labels().map(|labels| labels.shape()), Some(x.shape()));
            Ok((x.as_slice::<i64>()?.to_vec(), x.shape().to_vec()))
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_order_of_stages_gives_what_vectors_give(rows in 0usize..9, stages in prop::collection::vec(stage(), 0..6)) {
        let dataset = stages.iter().fold(source(rows)?, |dataset, &stage| apply(dataset, stage));
        let found = read(dataset.iterator(0)?);
        match whole(model(rows, &stages)) {
            Some(expected) => {
                let count = Cardinality::Finite(expected.len() as u64);
                prop_assert_eq!(found?, expected);
                prop_assert_eq!(dataset.cardinality(), count);
            }
            None => prop_assert_eq!(found.unwrap_err().code(), "DATA004"),
        }
    }

    #[test]
    fn the_spec_fits_every_element(rows in 1usize..9, stages in prop::collection::vec(stage(), 0..5)) {
        let dataset = stages.iter().fold(source(rows)?, |dataset, &stage| apply(dataset, stage));
        if whole(model(rows, &stages)).is_some() {
            let spec = dataset.element_spec()?;
            for (_, shape) in read(dataset.iterator(0)?)? {
                prop_assert!(spec.features[0].2.accepts(&shape), "{} does not accept {:?}", spec.features[0].2, shape);
            }
        }
    }

    #[test]
    fn a_restored_position_goes_on_with_the_same_elements(
        rows in 1usize..9,
        before in prop::collection::vec(stage(), 0..3),
        after in prop::collection::vec(stage(), 0..3),
        buffer in 1usize..12,
        reshuffle in any::<bool>(),
        seed in any::<u32>(),
        read_first in 0usize..10,
    ) {
        let dataset = before.iter().fold(source(rows)?, |dataset, &stage| apply(dataset, stage));
        let dataset = if reshuffle { dataset.shuffle(buffer) } else { dataset.shuffle_once(buffer, None) };
        let dataset = after.iter().fold(dataset.repeat(), |dataset, &stage| apply(dataset, stage)).take(40);
        let stages: Vec<Stage> = before.iter().chain(&after).copied().collect();
        prop_assume!(stages.iter().filter(|stage| matches!(stage, Stage::Batch(_, Remainder::Keep))).count() == 0);
        let all = read(dataset.iterator(u64::from(seed))?)?;
        let mut iterator = dataset.iterator(u64::from(seed))?;
        let first = read(iterator.by_ref().take(read_first))?;
        let position = Position::from_json(&iterator.position().to_json())?;
        let rest = read(dataset.iterator_from(&position)?)?;
        prop_assert_eq!([first, rest].concat(), all);
    }

    #[test]
    fn a_shuffle_gives_each_element_once_and_depends_on_its_seed_alone(
        rows in 0usize..40, buffer in 1usize..50, seed in any::<u32>(),
    ) {
        let dataset = source(rows)?.shuffle(buffer);
        let order = read(dataset.iterator(u64::from(seed))?)?;
        prop_assert_eq!(&order, &read(dataset.iterator(u64::from(seed))?)?);
        let mut sorted: Vec<i64> = order.iter().map(|(x, _)| x[0]).collect();
        // An element can come late, but no earlier than the buffer lets it.
        for (place, x) in sorted.iter().enumerate() {
            prop_assert!(*x < (place + buffer) as i64);
        }
        sorted.sort_unstable();
        prop_assert!(sorted.into_iter().eq(0..rows as i64));
    }
}

#[test]
fn batches_of_different_sizes_are_no_batch() -> Result<()> {
    let uneven = source(4)?.batch(3, Remainder::Keep).repeat_times(1);
    let error = uneven.batch(2, Remainder::Keep).iterator(0)?.next().expect("there are rows").unwrap_err();
    assert_eq!(
        error.to_string(),
        "DATA004: batch: elements of different sizes cannot be one batch; use `Remainder::Drop` for the inner batches"
    );
    Ok(())
}

#[test]
fn an_empty_dataset_that_repeats_ends() -> Result<()> {
    let empty = source(3)?.take(0).repeat().batch(2, Remainder::Keep);
    assert!(empty.iterator(0)?.next().is_none());
    assert_eq!(empty.cardinality(), Cardinality::Finite(0));
    Ok(())
}

#[test]
fn batches_of_128_over_120_rows_span_epochs() -> Result<()> {
    let mut iterator = source(120)?.repeat().batch(128, Remainder::Drop).iterator(0)?;
    let mut batch = Batch::default();
    for step in 0u32..10 {
        assert!(iterator.next_into(&mut batch)?);
        let expected: Vec<u32> = (0..128).map(|row| (128 * step + row) % 120).collect();
        assert_eq!(batch.source_rows(), expected);
    }
    Ok(())
}

#[test]
fn a_new_order_is_drawn_at_each_repetition_unless_told_otherwise() -> Result<()> {
    let epochs = |dataset: Dataset| -> Result<(Vec<u32>, Vec<u32>)> {
        let rows: Vec<u32> =
            dataset.repeat_times(2).iterator(5)?.map(|element| Ok(element?.source_rows()[0])).collect::<Result<_>>()?;
        Ok((rows[..50].to_vec(), rows[50..].to_vec()))
    };
    let (first, second) = epochs(source(50)?.shuffle(50))?;
    assert_ne!(first, second);
    let (first, second) = epochs(source(50)?.shuffle_once(50, None))?;
    assert_eq!(first, second);
    Ok(())
}

#[test]
fn sizes_of_zero_are_refused_when_the_dataset_is_read() -> Result<()> {
    let batch = source(3)?.batch(0, Remainder::Keep).iterator(0).unwrap_err();
    assert_eq!(batch.to_string(), "DATA004: batch: the batch size is 0; use a batch size of 1 or more");
    let shuffle = source(3)?.shuffle(0).element_spec().unwrap_err();
    assert_eq!(shuffle.to_string(), "DATA004: shuffle: the buffer holds 0 elements; use a buffer of 1 or more");
    Ok(())
}

#[test]
fn labels_that_are_more_than_the_rows_are_refused() {
    let features = Frame::new([("x", Column::from(vec![1.0f32, 2.0]))]).unwrap();
    let error = Dataset::from_tensor_slices((&features, &Column::from(vec![1i32]))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "DATA003: `x` has 2 rows, `labels` has 1; all columns must have one entry for each example"
    );
}

#[test]
fn the_position_of_another_pipeline_is_refused() -> Result<()> {
    let position = source(3)?.shuffle(3).iterator(1)?.position();
    let error = source(3)?.shuffle(4).iterator_from(&position).unwrap_err();
    assert_eq!(error.code(), "DATA005");
    assert!(error.to_string().contains("shuffle 3"), "{error}");
    Ok(())
}
