//! The Jupyter side: sockets, messages, and the order in which requests are answered.
//!
//! One thread reads each of the channels shell and control; [`Worker`] owns the session and answers, one by one,
//! what needs it. What needs none is answered at once while the worker has nothing to do. Everything that the
//! front ends see goes through one [`Publisher`], so it arrives in order.

mod channels;
mod compile_bar;
mod completeness;
mod connection;
mod control;
mod documentation;
mod ending;
mod history;
mod publisher;
mod replies;
mod screen;
mod shell;
mod text;
mod worker;

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use jupyter_protocol::Status;
use tokio::runtime::Builder;

use crate::error::{Context, Result};
use crate::session::PrivateFolder;
use crate::template::Template;

use channels::{Channels, Questions};
use ending::Ending;
use publisher::Publisher;
use replies::Replies;
use shell::Shell;
use worker::Worker;

/// Serves the connection that the file describes, until it is told to end or its parent is gone.
pub fn run(connection_file: &Path) -> Result<Infallible> {
    let info = connection::read(connection_file)?;
    let notebook = std::env::current_dir().context("KERNEL012", "no current folder")?;
    let private = PrivateFolder::create().context("KERNEL002", "no folder for the session")?;
    // What is wrong with the template is said in the first cell, where it is seen.
    let template = Template::find().and_then(|template| {
        crate::session::enter(&private, &template.standard_library(), &template.description().toolchain)?;
        Ok(template)
    });
    let ending = Ending::new(private.folder());

    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("KERNEL040", "no threads for the connection")?;
    let channels = runtime.block_on(Channels::bind(&info))?;
    let handle = runtime.handle().clone();
    let (publisher, published) = Publisher::new();
    runtime.spawn(channels::publish(channels.iopub, published));
    runtime.spawn(channels::beat(channels.heartbeat));
    runtime.spawn(ending::watch_parent(ending.clone()));
    runtime.spawn(ending::listen_to_signals(ending.clone()));
    publisher.send(Status::starting(), None);

    let (shell_replies, requests) = Replies::new(channels.shell, handle.clone());
    let (control_replies, commands) = Replies::new(channels.control, handle.clone());
    let questions = Questions::new(channels.stdin, handle);
    let language = template.as_ref().map(|template| template.description().toolchain.number()).unwrap_or_default();
    let shell = Arc::new(Shell::new(publisher.clone(), shell_replies, ending.clone(), language));
    let queue = Worker::new(shell.clone(), questions).start(template, private, notebook)?;
    {
        let shell = shell.clone();
        std::thread::spawn(move || control::serve(&commands, &control_replies, &shell));
    }
    loop {
        shell.take(requests.next(), &queue);
    }
}
