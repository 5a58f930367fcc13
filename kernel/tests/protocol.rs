//! What front ends get from the kernel, message by message.

mod common;

use std::time::{Duration, Instant};

use common::FrontEnd;
use jupyter_protocol::connection_info::Transport;
use jupyter_protocol::{
    CommInfoRequest, CompleteRequest, ExecuteRequest, HistoryRequest, InspectRequest, InterruptRequest,
    IsCompleteRequest, JupyterMessage, JupyterMessageContent, KernelInfoRequest, ReplyStatus, ShutdownRequest,
    UnknownMessage,
};
use serde_json::json;

fn request(code: &str) -> ExecuteRequest {
    ExecuteRequest::new(code.to_owned())
}

#[test]
fn cells_give_values_streams_and_errors() {
    let mut front_end = FrontEnd::start();
    let first = front_end.run("println!(\"out\"); eprintln!(\"err\"); 1 + 1");
    assert!(first.is_ok(), "{first:?}");
    assert_eq!((first.text("stdout").as_str(), first.text("stderr").as_str()), ("out\n", "err\n"));
    assert_eq!(first.of("execute_result")[0]["data"]["text/plain"], "2");
    assert_eq!(first.of("execute_input")[0]["execution_count"], 1);

    // Partial lines are seen while the cell runs.
    let streamed = front_end.run(
        "use std::io::Write; print!(\"partial\"); std::io::stdout().flush()?; \
         std::thread::sleep(std::time::Duration::from_millis(800)); println!();",
    );
    let times: Vec<_> = streamed.messages.iter().filter(|(kind, ..)| kind == "stream").map(|(_, _, at)| *at).collect();
    assert!(times[1] - times[0] > Duration::from_millis(300), "{streamed:?}");

    let panicked = front_end.run("let v = vec![1];\nlet i = 7;\nv[i];\n");
    let (name, text) = panicked.error();
    assert_eq!(name, "panic");
    assert!(text.contains("cell [3], line 3") && text.contains("index out of bounds"), "{text}");
    let (_, text) = front_end.run("let n: Vec<i32> = vec![]; n[0]").error();
    assert!(text.contains("cell [4], line 1"), "{text}");
    let (name, text) = front_end.run("\"x\".parse::<i32>()?;").error();
    assert!(name == "Error" && text.contains("invalid digit"), "{name} {text}");
    let (name, text) = front_end.run("fn unused() { let x = 1; }\nnothing_of_this_name").error();
    assert!(name == "E0425" && text.contains("line 2") && !text.contains("unused"), "{text}");
    let (name, text) = front_end.run("tf::tpu::Topology::new(\"v3-9\")?;").error();
    assert!(name.starts_with("TPU") && text.contains("the way out: "), "{name} {text}");

    // Whatever a cell prints is its own.
    let marks = front_end.run("println!(\"EVCXR_EXECUTION_COMPLETE\"); println!(\"EVCXR_PANIC_NOTIFICATION\"); 5");
    assert!(marks.is_ok());
    assert_eq!(marks.text("stdout"), "EVCXR_EXECUTION_COMPLETE\nEVCXR_PANIC_NOTIFICATION\n");
    assert_eq!(marks.of("execute_result")[0]["data"]["text/plain"], "5");

    // Two pictures are two; the forms of one value are one.
    let pictures = front_end.run(
        "for text in [\"a\", \"b\"] { tf::notebook::display(&[(\"text/html\", text), (\"text/plain\", \"p\")]); }",
    );
    let shown = pictures.of("display_data");
    assert_eq!(shown.len(), 2, "{pictures:?}");
    assert_eq!(shown[1]["data"], json!({ "text/html": "b", "text/plain": "p" }));
    let last = front_end.run("println!(\"EVCXR_BEGIN_CONTENT text/plain\\n1\\nEVCXR_END_CONTENT\"); 2");
    assert_eq!(last.of("display_data")[0]["data"]["text/plain"], "1");
    assert_eq!(last.of("execute_result")[0]["data"]["text/plain"], "2");

    // Reading finds the end of the input at once, and a front end that cannot be asked is not.
    assert!(front_end.run("let mut line = String::new(); std::io::stdin().read_line(&mut line)?; line").is_ok());
    assert_eq!(front_end.run("tf::notebook::input(\"name\")?;").error().0, "INPUT001");
    let id = front_end.send(
        ExecuteRequest { allow_stdin: true, ..request("println!(\"hello {}\", tf::notebook::input(\"name? \")?);") }
            .into(),
    );
    assert_eq!(front_end.question(), "name? ");
    front_end.answer("Ada");
    assert_eq!(front_end.finish(&id, |_, _| {}).text("stdout"), "hello Ada\n");

    // A frame's place can change, and outputs can be cleared.
    let updated = front_end.run(
        "let handle = tf::notebook::DisplayHandle::display(&[(\"text/plain\", \"1\")]); \
         handle.update(&[(\"text/plain\", \"2\")]); tf::notebook::clear_output(true);",
    );
    let id = &updated.of("display_data")[0]["transient"]["display_id"];
    assert_eq!(&updated.of("update_display_data")[0]["transient"]["display_id"], id);
    assert_eq!(updated.of("clear_output")[0]["wait"], true);
}

#[test]
fn requests_beside_cells_are_answered() {
    let mut front_end = FrontEnd::start_over(Transport::IPC);
    let JupyterMessageContent::KernelInfoReply(info) = front_end.ask(KernelInfoRequest {}.into()) else { panic!() };
    assert_eq!((info.implementation.as_str(), info.language_info.file_extension.as_deref()), ("tpulab", Some(".rs")));
    assert!(info.language_info.version.starts_with("1."), "{}", info.language_info.version);
    let check = |front_end: &mut FrontEnd, code: &str| {
        let reply = front_end.ask(IsCompleteRequest { code: code.to_owned() }.into());
        let JupyterMessageContent::IsCompleteReply(reply) = reply else { panic!("{reply:?}") };
        format!("{:?}", reply.status)
    };
    assert_eq!(check(&mut front_end, "fn f() {"), "Incomplete");
    let none = front_end.ask(CommInfoRequest { target_name: None }.into());
    assert!(matches!(none, JupyterMessageContent::CommInfoReply(reply) if reply.comms.is_empty()));

    // Only counted executions raise the count and are remembered.
    assert_eq!(front_end.run("let größe = 3;").reply.execution_count.value(), 1);
    let silent = front_end.execute(ExecuteRequest { silent: true, ..request("größe") }, |_, _| {});
    assert!(silent.of("execute_input").is_empty() && silent.of("execute_result").is_empty(), "{silent:?}");
    let hidden = front_end.execute(ExecuteRequest { store_history: false, ..request("2") }, |_, _| {});
    assert_eq!(hidden.reply.execution_count.value(), 1);
    let expressions = Some([("a".to_owned(), "1".to_owned())].into());
    let asked = front_end.execute(ExecuteRequest { user_expressions: expressions, ..request("4 + 4") }, |_, _| {});
    assert_eq!(asked.reply.execution_count.value(), 2);
    let expression = serde_json::to_value(&asked.reply.user_expressions).unwrap();
    assert_eq!(expression["a"]["status"], "error");
    let tail = HistoryRequest::Tail { n: 9, output: true, raw: true };
    let reply = front_end.ask(JupyterMessage::new(JupyterMessageContent::HistoryRequest(tail), None));
    let JupyterMessageContent::HistoryReply(history) = reply else { panic!("{reply:?}") };
    assert_eq!(
        serde_json::to_value(history.history).unwrap(),
        json!([[1, 1, ["let größe = 3;", ""]], [1, 2, ["4 + 4", "8"]]])
    );

    // Positions are characters.
    let code = "let ção = grö";
    let reply = front_end.ask(CompleteRequest { code: code.to_owned(), cursor_pos: 13 }.into());
    let JupyterMessageContent::CompleteReply(completed) = reply else { panic!("{reply:?}") };
    assert!(completed.matches.contains(&"größe".to_owned()), "{completed:?}");
    assert_eq!((completed.cursor_start, completed.cursor_end), (10, 13));
    let inspect = |front_end: &mut FrontEnd, code: &str, cursor_pos| {
        let reply = front_end.ask(InspectRequest { code: code.to_owned(), cursor_pos, detail_level: None }.into());
        let JupyterMessageContent::InspectReply(reply) = reply else { panic!("{reply:?}") };
        serde_json::to_value(&reply.data).unwrap()["text/plain"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(inspect(&mut front_end, "größe + 1", 2), "größe: i32");
    assert!(inspect(&mut front_end, "tf::tpu::TpuEstimator::new", 12).starts_with("pub struct TpuEstimator"));
    assert_eq!(inspect(&mut front_end, "no_such_name", 3), "");
    let paged = serde_json::to_value(front_end.run("?Dataset").reply.payload).unwrap();
    assert!(paged[0]["source"] == "page" && paged[0]["data"]["text/plain"].as_str().unwrap().contains("Dataset"));
    assert_eq!(front_end.run("?no_such_name").error().0, "KERNEL045");

    // What makes no sense is refused, and the kernel lives on.
    for content in [json!([1, 2]), json!({ "code": 7 }), json!({}), json!(null)] {
        let odd = UnknownMessage { msg_type: "execute_request".to_owned(), content: json!({ "odd": content }) };
        let reply = front_end.ask(JupyterMessage::new(odd, None));
        assert_eq!(serde_json::to_value(&reply).unwrap()["ename"], "KERNEL046");
    }
    let unsigned = jupyter_protocol::ConnectionInfo { key: "another".to_owned(), ..front_end.info.clone() };
    front_end.block_on(async {
        let identity = jupyter_zmq_client::peer_identity_for_session("thief").unwrap();
        let thief = jupyter_zmq_client::create_client_shell_connection_with_identity(&unsigned, "thief", identity);
        let mut thief = thief.await.unwrap();
        thief.send(request("std::process::exit(3);").into()).await.unwrap();
        let answer = tokio::time::timeout(Duration::from_millis(500), thief.read()).await;
        assert!(answer.is_err(), "an unsigned request was answered");
    });
    assert!(front_end.run("größe").is_ok());
}

#[test]
fn interrupts_and_deaths_leave_a_session_that_works() {
    let mut front_end = FrontEnd::start();
    assert!(front_end.run("let kept = 41;").is_ok());

    // A training stops at its next step and says so; variables live on, and what waited is not run.
    let model =
        "fn model(features: &Tensors, labels: Option<&Tensor>, mode: ModeKeys, _: &Params) -> Result<EstimatorSpec> {
        let net = tf::feature_column::input_layer(features, &[tf::feature_column::numeric_column(\"x\")])?;
        let logits = tf::layers::dense(&net, 2, None)?;
        let loss = tf::losses::sparse_softmax_cross_entropy(labels.expect(\"labels\"), &logits)?;
        let op = tf::train::AdagradOptimizer::new(0.1).minimize(&loss, Some(&features.graph().global_step()))?;
        let _ = mode; Ok(EstimatorSpec::train(loss, op))
    }
    fn input() -> Result<Dataset> {
        let features = Frame::new([(\"x\", Column::from(vec![0.0f32, 1.0]))])?;
        let labels = Column::from(vec![0i32, 1]);
        Ok(Dataset::from_tensor_slices((&features, &labels))?.repeat().batch(2, Remainder::Drop))
    }
    let classifier = Estimator::new(model).build()?;";
    let built = front_end.run(model);
    assert!(built.is_ok(), "{built:?}");
    let training = front_end.send(request("println!(\"go\"); classifier.train(input, Steps(1_000_000_000))?;").into());
    let waiting = front_end.send(request("println!(\"never\");").into());
    let trained = front_end.finish(&training, |front_end, content| {
        if content["text"] == "go\n" {
            front_end.send_control(InterruptRequest {}.into());
        }
    });
    let (name, text) = trained.error();
    assert_eq!(name, "KeyboardInterrupt");
    assert!(text.contains("train was interrupted after step"), "{text}");
    assert_eq!(front_end.finish(&waiting, |_, _| {}).reply.status, ReplyStatus::Aborted);
    assert!(matches!(front_end.control_reply(), JupyterMessageContent::InterruptReply(_)));
    assert_eq!(front_end.run("kept + 1").of("execute_result")[0]["data"]["text/plain"], "42");

    // Nor does a question outlive an interrupt, and its late answer is no answer to the next.
    let ask = |text: &str| {
        let code = format!("println!(\"{{}}\", tf::notebook::input(\"{text}\")?);");
        ExecuteRequest { allow_stdin: true, ..request(&code) }
    };
    let asking = front_end.send(ask("first? ").into());
    assert_eq!(front_end.question(), "first? ");
    front_end.send_control(InterruptRequest {}.into());
    assert_eq!(front_end.finish(&asking, |_, _| {}).error().0, "KeyboardInterrupt");
    front_end.answer("late");
    let asking = front_end.send(ask("second? ").into());
    assert_eq!(front_end.question(), "second? ");
    front_end.answer("in time");
    assert_eq!(front_end.finish(&asking, |_, _| {}).text("stdout"), "in time\n");
    assert!(front_end.run("kept").is_ok());

    // An error that is expected lets the next cell run.
    let failing = front_end.send(ExecuteRequest { stop_on_error: false, ..request("panic!(\"no\");") }.into());
    let next = front_end.send(request("kept").into());
    assert_eq!(front_end.finish(&failing, |_, _| {}).error().0, "panic");
    assert!(front_end.finish(&next, |_, _| {}).is_ok());

    // What does not listen is ended, and so is what it has started.
    let deaf = front_end.send(request("println!(\"go\"); loop { std::hint::spin_loop(); }").into());
    let deaf = front_end.finish(&deaf, |front_end, content| {
        if content["text"] == "go\n" {
            front_end.send_control(InterruptRequest {}.into());
        }
    });
    let (name, text) = deaf.error();
    assert!(name == "KeyboardInterrupt" && text.contains("all variables are lost"), "{name} {text}");
    assert_eq!(front_end.run("kept").error().0, "E0425");
    // A cell that asked asks again.
    let again = front_end.send(ExecuteRequest { allow_stdin: true, ..request(":again") }.into());
    assert_eq!(front_end.question(), "second? ");
    front_end.answer("once more");
    let again = front_end.finish(&again, |_, _| {});
    assert!(again.is_ok() && again.text("stdout").contains("once more"), "{again:?}");
    assert!(front_end.run("kept").is_ok());

    for (code, reason) in [
        ("std::process::Command::new(\"sleep\").arg(\"60\").spawn()?; std::process::abort();", "SIGABRT"),
        ("fn deep(n: u64) -> u64 { let a = [n; 999]; deep(n + 1) + a[3] } println!(\"{}\", deep(0));", "SIG"),
        ("std::process::exit(3);", "exit status: 3"),
    ] {
        let died = front_end.run(code);
        let (name, text) = died.error();
        assert!(name == "process ended" && text.contains(reason), "{code}: {name} {text}");
        let begun = Instant::now();
        assert!(front_end.run("println!(\"alive\");").is_ok());
        assert!(begun.elapsed() < Duration::from_secs(30), "a background process holds the kernel up");
    }

    // The end leaves nothing behind.
    assert_eq!(front_end.sessions(), 1);
    front_end.send_control(ShutdownRequest { restart: false }.into());
    assert!(front_end.ends());
    assert_eq!(front_end.sessions(), 0);
}

#[test]
fn long_and_large_outputs_arrive_whole() {
    let mut front_end = FrontEnd::start();
    let lines = front_end.run("for line in 0..10_000 { println!(\"line {line}\"); }");
    let wanted: String = (0..10_000).map(|line| format!("line {line}\n")).collect();
    assert!(lines.text("stdout") == wanted, "lines are missing or in disorder");
    assert!(lines.of("stream").len() < 2_000, "each line is a message");
    let large = front_end.run("tf::notebook::display(&[(\"image/png\", &\"A\".repeat(20 << 20))]);");
    assert_eq!(large.of("display_data")[0]["data"]["image/png"].as_str().map(str::len), Some(20 << 20));
    // Not every byte is text.
    let odd = front_end.run("use std::io::Write; std::io::stdout().write_all(&[b'a', 0xff, 0xfe, b'\\n', 0xc3])?;");
    assert!(odd.is_ok() && odd.text("stdout").starts_with('a'), "{odd:?}");
}

#[test]
fn further_dependencies_keep_what_is_loaded() {
    let mut front_end = FrontEnd::start();
    let package = front_end.folder().join("mini");
    std::fs::create_dir_all(package.join("src")).unwrap();
    // A crate that the library stands on, too, in whatever version is newest.
    let manifest =
        "[package]\nname = \"mini\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nitoa = \"1\"\n";
    std::fs::write(package.join("Cargo.toml"), manifest).unwrap();
    let code = "pub fn text(n: u32) -> String { itoa::Buffer::new().format(n).to_owned() }";
    std::fs::write(package.join("src/lib.rs"), code).unwrap();
    assert!(front_end.run("let kept = Column::from(vec![1i32, 2]);").is_ok());
    let added = front_end.run(":dep mini = { path = \"mini\" }\nmini::text(7)");
    assert_eq!(added.of("execute_result")[0]["data"]["text/plain"], "\"7\"", "{added:?}");
    assert!(front_end.run("kept.len()").is_ok(), "a variable of the library is lost");
    let (name, _) = front_end.run(":dep tpulab = \"0.1\"").error();
    assert_eq!(name, "KERNEL031");

    // Other sources of the library are built, which is seen, and used.
    let checkout = front_end.folder().join("checkout");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for part in ["Cargo.toml", "Cargo.lock", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "docs", "src"] {
        copy(&root.join(part), &checkout.join(part));
    }
    let iris = checkout.join("src/iris.rs");
    let mut text = std::fs::read_to_string(&iris).unwrap();
    text.push_str("\n/// Added.\npub const ADDED: u32 = 77;\n");
    std::fs::write(&iris, text).unwrap();
    let rebuilt = front_end.run(":dep tpulab = { path = \"checkout\" }\ntf::iris::ADDED");
    assert_eq!(rebuilt.of("execute_result")[0]["data"]["text/plain"], "77", "{rebuilt:?}");
    assert!(serde_json::to_string(&rebuilt.of("display_data")).unwrap().contains("Compiling tpulab"), "{rebuilt:?}");
    assert!(front_end.run("tf::iris::ADDED + 1").is_ok());
    // What other sessions begin with is as it was.
    let mut other = FrontEnd::start();
    assert_eq!(other.run("tf::iris::ADDED").error().0, "E0425");
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    if from.is_dir() {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap().flatten() {
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(from, to).unwrap();
    }
}
