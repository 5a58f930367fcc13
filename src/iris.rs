//! The iris data of the tutorial: 120 flowers to train on and 30 to test with. TensorFlow: `iris_data_tpu.py`.
//!
//! The two files are part of the library, so that no network is needed.

use crate::core::{DType, Result};
use crate::data::{Column, CsvReader, Dataset, Frame, Remainder};
use std::path::Path;

/// Where TensorFlow keeps the training file.
pub const TRAIN_URL: &str = "http://download.tensorflow.org/data/iris_training.csv";
/// Where TensorFlow keeps the test file.
pub const TEST_URL: &str = "http://download.tensorflow.org/data/iris_test.csv";
/// The names of the columns, the label last.
pub const CSV_COLUMN_NAMES: [&str; 5] = ["SepalLength", "SepalWidth", "PetalLength", "PetalWidth", "Species"];
/// The species, in the order of their labels.
pub const SPECIES: [&str; 3] = ["Setosa", "Versicolor", "Virginica"];
/// The species of the flowers in [`prediction_input_data`].
pub const PREDICTION_OUTPUT_DATA: [&str; 3] = ["Virginica", "Setosa", "Versicolor"];

/// What TensorFlow's training file holds: a line about the data, then 120 flowers.
pub const TRAIN_CSV: &str = include_str!("iris/iris_training.csv");
/// What TensorFlow's test file holds: a line about the data, then 30 flowers.
pub const TEST_CSV: &str = include_str!("iris/iris_test.csv");

pub use crate::data::Split;

/// Three flowers to predict, float32. TensorFlow: `PREDICTION_INPUT_DATA`.
///
/// They are also the first three rows of the test file, in another order.
#[doc(alias = "PREDICTION_INPUT_DATA")]
pub fn prediction_input_data() -> Frame {
    let columns = [[6.9f32, 5.1, 5.9], [3.1, 3.3, 3.0], [5.4, 1.7, 4.2], [2.1, 0.5, 1.5]];
    let columns = columns.map(|values| Column::from(values.to_vec()));
    Frame::new(CSV_COLUMN_NAMES.into_iter().zip(columns)).expect("four names, four columns of three")
}

/// The data with the types that a TPU takes: float32 features, and int32 labels where `y_name` is `Species`.
///
/// `y_name` is the column that becomes the labels; the features are the others, in the file's order.
///
/// # Errors
/// `DATA010` if no column is called `y_name`.
///
/// # Examples
/// ```
/// use tpulab::core::DType;
/// let ((train_x, train_y), (test_x, test_y)) = tpulab::iris::load_data("Species")?;
/// assert_eq!((train_x.shape(), test_x.shape()), ((120, 4), (30, 4)));
/// assert_eq!((train_y.dtype(), test_y.len()), (DType::Int32, 30));
/// # Ok::<(), tpulab::core::Error>(())
/// ```
pub fn load_data(y_name: &str) -> Result<Split> {
    embedded(&typed(), y_name)
}

/// The data with the types that their digits suggest, as pandas reads them: float64 features, which a TPU refuses,
/// and int64 labels.
///
/// # Errors
/// `DATA010` if no column is called `y_name`.
pub fn load_data_untyped(y_name: &str) -> Result<Split> {
    embedded(&untyped(), y_name)
}

/// Two files of one's own with iris's columns, read as [`load_data`] reads its files.
///
/// # Errors
/// Those of [`CsvReader::read_path`], and `DATA010` if no column is called `y_name`.
pub fn load_data_from(train_path: impl AsRef<Path>, test_path: impl AsRef<Path>, y_name: &str) -> Result<Split> {
    let reader = typed();
    let (train, test) = (reader.read_path(train_path)?, reader.read_path(test_path)?);
    Ok((part(train.into_frame(), y_name)?, part(test.into_frame(), y_name)?))
}

/// An endless, shuffled stream of full batches to train with. TensorFlow: `iris_data_tpu.train_input_fn`.
///
/// # Errors
/// `DATA004` for columns of different lengths, when the dataset is used for a batch size of 0.
///
/// # Examples
/// ```
/// let ((train_x, train_y), _) = tpulab::iris::load_data("Species")?;
/// let dataset = tpulab::iris::train_input_fn(&train_x, &train_y, 128)?;
/// let batch = dataset.iterator(0)?.next().expect("it never ends")?;
/// assert_eq!(batch.rows(), 128);
/// # Ok::<(), tpulab::core::Error>(())
/// ```
pub fn train_input_fn(features: &Frame, labels: &Column, batch_size: usize) -> Result<Dataset> {
    let dataset = Dataset::from_tensor_slices((features, labels))?;
    Ok(dataset.shuffle(1000).repeat().batch(batch_size, Remainder::Drop))
}

/// An endless, shuffled stream of full batches to evaluate with: the number of steps says when to stop. TensorFlow:
/// `iris_data_tpu.eval_input_fn`.
///
/// # Errors
/// As for [`train_input_fn`].
pub fn eval_input_fn(features: &Frame, labels: &Column, batch_size: usize) -> Result<Dataset> {
    train_input_fn(features, labels, batch_size)
}

/// The examples once, in order, the last batch as short as it is. TensorFlow: `iris_data_tpu.predict_input_fn`.
///
/// # Errors
/// As for [`train_input_fn`].
pub fn predict_input_fn(features: &Frame, batch_size: usize) -> Result<Dataset> {
    Ok(Dataset::from_tensor_slices(features)?.batch(batch_size, Remainder::Keep))
}

fn untyped() -> CsvReader {
    CsvReader::new().names(CSV_COLUMN_NAMES)
}

fn typed() -> CsvReader {
    untyped().dtypes(CSV_COLUMN_NAMES.map(|name| (name, if name == "Species" { DType::Int32 } else { DType::Float32 })))
}

fn embedded(reader: &CsvReader, y_name: &str) -> Result<Split> {
    let train = reader.read_str("iris_training.csv", TRAIN_CSV)?;
    let test = reader.read_str("iris_test.csv", TEST_CSV)?;
    Ok((part(train.into_frame(), y_name)?, part(test.into_frame(), y_name)?))
}

fn part(mut frame: Frame, y_name: &str) -> Result<(Frame, Column)> {
    let labels = frame.pop(y_name)?;
    Ok((frame, labels))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows_per_class(labels: &Column) -> [usize; 3] {
        let labels = labels.values::<i32>().unwrap();
        [0, 1, 2].map(|class| labels.iter().filter(|&&label| label == class).count())
    }

    #[test]
    fn the_files_are_the_ones_that_tensorflow_publishes() {
        // Lengths and counts of the downloads.
        assert_eq!((TRAIN_CSV.len(), TEST_CSV.len()), (2194, 573));
        let ((train_x, train_y), (test_x, test_y)) = load_data("Species").unwrap();
        assert_eq!((train_x.shape(), test_x.shape()), ((120, 4), (30, 4)));
        assert_eq!((rows_per_class(&train_y), rows_per_class(&test_y)), ([42, 36, 42], [8, 14, 8]));
        let table = typed().read_str("iris_training.csv", TRAIN_CSV).unwrap();
        assert_eq!(table.class_names(), SPECIES.map(str::to_lowercase));
    }

    #[test]
    fn only_the_declared_types_suit_a_tpu() {
        let ((features, labels), _) = load_data("Species").unwrap();
        assert!(features.columns().iter().all(|(_, column)| column.dtype() == DType::Float32));
        assert_eq!(labels.dtype(), DType::Int32);
        let ((features, labels), _) = load_data_untyped("Species").unwrap();
        assert!(features.columns().iter().all(|(_, column)| column.dtype() == DType::Float64));
        assert_eq!(labels.dtype(), DType::Int64);
    }

    #[test]
    fn any_column_can_be_the_label_and_a_stranger_is_named() {
        let ((features, labels), _) = load_data("PetalWidth").unwrap();
        assert_eq!(features.names(), ["SepalLength", "SepalWidth", "PetalLength", "Species"]);
        assert_eq!(labels.values::<f32>().unwrap()[..2], [2.2, 1.0]);
        assert_eq!(
            load_data("species").unwrap_err().to_string(),
            "DATA010: no column is called `species`; the columns are `SepalLength`, `SepalWidth`, `PetalLength`, \
             `PetalWidth`, `Species`; did you mean `Species`?"
        );
    }

    #[test]
    fn the_flowers_to_predict_are_the_first_of_the_test_file() {
        let (_, (test_x, test_y)) = load_data("Species").unwrap();
        let flowers = prediction_input_data();
        for (name, column) in flowers.columns() {
            let tested = test_x.column(name).unwrap().values::<f32>().unwrap();
            assert_eq!(column.values::<f32>().unwrap(), [tested[1], tested[2], tested[0]]);
        }
        let labels = test_y.values::<i32>().unwrap();
        assert_eq!(PREDICTION_OUTPUT_DATA, [labels[1], labels[2], labels[0]].map(|label| SPECIES[label as usize]));
    }
}
