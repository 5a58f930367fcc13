//! Locations keep files whole, and buckets keep locations inside.

use std::fs;
use std::path::Path;
use tempfile::TempDir;
use tpulab::core::{Exception, Result};
use tpulab::storage::{Buckets, Location};

#[test]
fn one_program_runs_on_a_folder_and_on_a_bucket() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let local = Location::local(folder.path().join("local"));
    let bucket = buckets(&folder).location("gs://bucket-name/iris/")?;
    assert!(bucket.is_bucket() && !local.is_bucket());
    assert_eq!(bucket.to_string(), "gs://bucket-name/iris/");
    for model_dir in [local, bucket] {
        assert!(!model_dir.exists()?);
        let file = model_dir.join("eval/events")?;
        file.append(b"one ")?;
        file.append(b"two")?;
        assert_eq!(file.read()?, b"one two");
        file.write_atomic(b"three")?;
        assert_eq!(file.read()?, b"three");
        file.rename(&model_dir.join("kept/events")?)?;
        assert!(!file.exists()?);
        assert_eq!(model_dir.list()?, ["eval", "kept"]);
        assert!(model_dir.join("kept")?.is_folder()?);
        model_dir.join("kept/events")?.remove()?;
        assert_eq!(model_dir.join("kept")?.list()?, [""; 0]);
        model_dir.remove_all()?;
        assert!(!model_dir.exists()?);
    }
    Ok(())
}

#[test]
fn spellings_are_kept_and_suffixes_stay_in_the_name() -> Result<()> {
    let buckets = Buckets::below("/root");
    let prefix = buckets.location("gs://bucket-name/iris/")?.join("model.ckpt-0")?;
    assert_eq!(prefix.with_suffix(".index")?.to_string(), "gs://bucket-name/iris/model.ckpt-0.index");
    assert_eq!(buckets.location("gs://iris/iris")?.with_suffix(".index")?.to_string(), "gs://iris/iris.index");
    let error = buckets.location("gs://bucket-name")?.with_suffix(".index").unwrap_err();
    assert_eq!(error.to_string(), "STOR004: path `gs://bucket-name` names a folder, expected the name of a file");
    assert_eq!(buckets.location("gs://bucket-name/")?.write_atomic(b"").unwrap_err().code(), "STOR004");
    assert!(Location::local("..").with_suffix(".index").is_err());
    assert!(buckets.location("gs://bucket-name/iris")?.with_suffix("/../x").is_err());
    Ok(())
}

#[test]
fn addresses_that_could_leave_their_bucket_are_refused() {
    let buckets = Buckets::below("/root");
    for (address, code) in [
        ("gs://", "STOR003"),
        ("gs:///etc/passwd", "STOR003"),
        ("gs://../etc", "STOR003"),
        ("gs://Bucket/iris", "STOR003"),
        ("gs://bucket/..", "STOR004"),
        ("gs://bucket/../other/iris", "STOR004"),
        ("gs://bucket/iris/../../..", "STOR004"),
        ("gs://bucket/./iris", "STOR004"),
        ("gs://bucket//etc/passwd", "STOR004"),
        (r"gs://bucket/..\..\etc", "STOR004"),
        ("gs://bucket/iris\0", "STOR004"),
        ("gs://bucket/iris\n", "STOR004"),
        ("s3://bucket/iris", "STOR006"),
        ("", "STOR004"),
    ] {
        let error = buckets.location(address).expect_err(address);
        assert_eq!(error.code(), code, "{address}");
        assert_eq!(error.exception(), Exception::InvalidArgumentError);
    }
    let iris = buckets.location("gs://bucket/iris").unwrap();
    for name in ["", "..", "../x", "/etc/passwd", "a//b", "a/", r"a\b", "a\0"] {
        assert_eq!(iris.join(name).expect_err(name).code(), "STOR004", "{name}");
    }
    assert_eq!(iris.resolve("/etc/passwd").unwrap_err().code(), "STOR004");
    assert_eq!(iris.resolve("gs://other/model").unwrap(), buckets.location("gs://other/model").unwrap());
}

#[cfg(unix)]
#[test]
fn symbolic_links_do_not_lead_out_of_a_bucket() -> Result<()> {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let outside = folder.path().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("secret"), "secret").unwrap();
    let buckets = buckets(&folder);
    let bucket = buckets.location("gs://bucket")?;
    bucket.join("inner/file")?.write_atomic(b"inside")?;
    buckets.location("gs://neighbour/file")?.write_atomic(b"theirs")?;
    let root = buckets.root().join("bucket");
    symlink(&outside, root.join("folder")).unwrap();
    symlink(outside.join("secret"), root.join("file")).unwrap();
    symlink(outside.join("not-there-yet"), root.join("dangling")).unwrap();
    symlink("../neighbour", root.join("neighbour")).unwrap();
    symlink("inner", root.join("inside")).unwrap();
    symlink(&outside, buckets.root().join("linked")).unwrap();

    for name in ["folder/secret", "folder/new/file", "file", "dangling", "neighbour/file"] {
        let location = bucket.join(name)?;
        let attempts = [
            location.read().err(),
            location.write_atomic(b"x").err(),
            location.append(b"x").err(),
            location.list().err(),
            location.exists().err(),
            location.remove().err(),
            location.remove_all().err(),
            location.create_dir_all().err(),
            location.rename(&bucket.join("stolen")?).err(),
            bucket.join("inner/file")?.rename(&location).err(),
        ];
        for error in attempts {
            assert_eq!(error.expect(name).code(), "STOR005", "{name}");
        }
    }
    let error = bucket.join("file")?.read().unwrap_err().to_string();
    let expected = "STOR005: `gs://bucket/file` leads out of its bucket over a symbolic link; \
                    copy the files into the bucket instead of linking to them";
    assert_eq!(error, expected);
    assert_eq!(buckets.location("gs://linked/secret")?.read().unwrap_err().code(), "STOR005");
    assert_eq!(bucket.join("inside/file")?.read()?, b"inside");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);

    bucket.remove_all()?;
    assert_eq!(fs::read(outside.join("secret")).unwrap(), b"secret");
    Ok(())
}

#[test]
fn a_write_that_fails_leaves_the_old_content_and_nothing_aside() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::local(folder.path());
    let occupied = location.join("model.ckpt-0.index")?;
    occupied.join("kept")?.write_atomic(b"old")?;
    let error = occupied.write_atomic(b"new").unwrap_err();
    assert_eq!(error.code(), "STOR002");
    assert!(error.message().starts_with(&format!("cannot write `{occupied}`: ")), "{error}");
    assert_eq!(occupied.join("kept")?.read()?, b"old");
    assert_eq!(names_in(folder.path()), ["model.ckpt-0.index"]);
    Ok(())
}

#[test]
fn a_file_left_aside_by_a_crash_is_not_listed() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::local(folder.path());
    location.join("checkpoint")?.write_atomic(b"old")?;
    fs::write(folder.path().join(".checkpoint.tpulab-writing-7-0"), "ne").unwrap();
    assert_eq!(location.list()?, ["checkpoint"]);
    assert_eq!(location.join("checkpoint")?.read()?, b"old");
    Ok(())
}

#[test]
fn what_is_not_there_is_named() {
    let buckets = Buckets::below("/nonexistent/buckets");
    let error = buckets.location("gs://bucket-name/iris").unwrap().read().unwrap_err();
    assert_eq!(error.to_string(), "STOR001: cannot read `gs://bucket-name/iris`: there is no such file or folder");
    assert_eq!(error.exception(), Exception::NotFoundError);
}

#[test]
fn threads_that_write_one_file_leave_one_whole_content() {
    let folder = tempfile::tempdir().unwrap();
    let file = Location::local(folder.path().join("file"));
    std::thread::scope(|scope| {
        for byte in 0..4u8 {
            let file = &file;
            scope.spawn(move || (0..8).for_each(|_| file.write_atomic(&[byte; 10_000]).unwrap()));
        }
    });
    let bytes = file.read().unwrap();
    assert_eq!(bytes.len(), 10_000);
    assert!(bytes.iter().all(|byte| *byte == bytes[0]));
    assert_eq!(names_in(folder.path()), ["file"]);
}

fn buckets(folder: &TempDir) -> Buckets {
    Buckets::below(folder.path().join("buckets"))
}

fn names_in(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}
