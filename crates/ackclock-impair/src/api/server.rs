//! HTTP: requests come in, answers go out.
//!
//! Each connection carries one request and has a task of its own; what the request asks for is done
//! in a thread that may wait. So a slow client or a name that takes long to look up holds up nobody
//! else.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ackclock_tcp::Registry;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, ORIGIN};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::runtime::Builder;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::host::Hosts;
use super::routes::{allowed, answer};
use super::{Body, Problem, Proxies, Reply};
use crate::Error;
use crate::exposition::MEDIA_TYPE;
use crate::files::are_used_up;
use crate::proxy::listen;

/// The most bytes of a body: a scenario is some kilobytes long.
const MOST_BODY: usize = 1 << 20;
/// The most clients at the same time. For a further one the oldest ends of those for which nothing
/// is being done.
const MOST_CLIENTS: usize = 512;
/// How long the head of a request may take to come, or a part of its body, and the request from
/// begin to end.
const PART: Duration = Duration::from_secs(5);
const ALL: Duration = Duration::from_secs(30);

/// How long to wait where a client cannot be taken, as where there are no more files.
const RETRY: Duration = Duration::from_millis(10);

/// Where there are no more files, clients that have said nothing for so long make room for others.
/// For a moment there are none each time the proxies look whether enough are left over.
const SILENT: Duration = Duration::from_millis(100);

/// An API that listens. Dropped, it ends at once.
pub(crate) struct Api {
    address: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Api {
    /// Listens at an address, which has been called `name`: requests may call it so, too.
    ///
    /// # Errors
    /// [`Error::System`] if the system refuses the address or a thread.
    pub(crate) fn start(
        address: SocketAddr,
        name: &str,
        proxies: Arc<Mutex<Proxies>>,
        registry: Registry,
    ) -> Result<Api, Error> {
        let refused = || Error::system(format!("--api: listen at {address}"));
        let listener = listen(address).map_err(refused())?;
        let address = listener.local_addr().map_err(refused())?;
        let runtime = Builder::new_current_thread().enable_all().build().map_err(refused())?;
        let (end, ended) = oneshot::channel();
        let hosts = Arc::new(Hosts::of(address, name));
        let thread = std::thread::Builder::new()
            .name("impair-api".into())
            .spawn(move || {
                runtime.spawn(serve(listener, (proxies, Arc::new(registry), hosts)));
                let _ = runtime.block_on(ended);
                // Somebody may still look up a name.
                runtime.shutdown_background();
            })
            .map_err(Error::system("thread"))?;
        Ok(Api { address, end: Some(end), thread: Some(thread) })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        drop(self.end.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// What requests are about, the strategies that scenarios may name, and the hosts of requests.
type Known = (Arc<Mutex<Proxies>>, Arc<Registry>, Arc<Hosts>);

async fn serve(listener: TcpListener, known: Known) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let room = Arc::new(Semaphore::new(MOST_CLIENTS));
    // In the order in which they came, and when, and whether what they ask for is being done.
    let mut clients: VecDeque<(AbortHandle, Instant, Arc<AtomicBool>)> = VecDeque::new();
    loop {
        let accepted = listener.accept().await;
        let no_files = accepted.as_ref().is_err_and(are_used_up);
        // Whoever says nothing, or does not read, keeps nobody out: the oldest of those goes.
        clients.retain(|(client, ..)| !client.is_finished());
        let least = if no_files { SILENT } else { Duration::ZERO };
        let is_idle = |(_, since, busy): &(AbortHandle, Instant, Arc<AtomicBool>)| {
            !busy.load(Ordering::Relaxed) && since.elapsed() >= least
        };
        if (no_files || room.available_permits() == 0)
            && let Some(idle) = clients.iter().position(is_idle)
            && let Some((client, ..)) = clients.remove(idle)
        {
            client.abort();
        }
        let Ok((stream, _)) = accepted else {
            // One that ends makes room.
            tokio::time::sleep(RETRY).await;
            continue;
        };
        let Ok(place) = room.clone().acquire_owned().await else { return Ok(()) };
        let (known, busy) = (known.clone(), Arc::<AtomicBool>::default());
        let is_busy = busy.clone();
        let client = tokio::spawn(async move {
            let service =
                service_fn(move |request| respond(known.clone(), request, is_busy.clone()));
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PART)
                .keep_alive(false)
                .half_close(true)
                .max_buf_size(16 * 1024)
                .serve_connection(TokioIo::new(stream), service);
            // A client that breaks off has no use for an answer.
            let _ = timeout(ALL, connection).await;
            drop(place);
        });
        clients.push_back((client.abort_handle(), Instant::now(), busy));
    }
}

/// The answer to a request, after its body has come. `busy` says whether it is being made.
async fn respond(
    (proxies, registry, hosts): Known,
    request: Request<Incoming>,
    busy: Arc<AtomicBool>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, mut body) = request.into_parts();
    // All of it is read, also if there is too much: who still writes hears no answer.
    let (mut bytes, mut len) = (Vec::new(), 0);
    loop {
        let frame = match timeout(PART, body.frame()).await {
            Ok(None) => break,
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(_))) => {
                return Ok(response(problem(400, "the body is not as its head says")));
            }
            // It has a place that others wait for.
            Err(_) => {
                let text = format!("no more of the body has come for {} s", PART.as_secs());
                return Ok(response(problem(408, &text)));
            }
        };
        let data = frame.into_data().unwrap_or_default();
        len += data.len();
        if len <= MOST_BODY {
            bytes.extend_from_slice(&data);
        }
    }
    // Pages of any site can have a browser on this machine send requests here.
    if head.headers.contains_key(ORIGIN) {
        return Ok(response(problem(403, "requests of web pages are not served")));
    }
    if let Err(problem) = hosts.check(head.version, &head.headers) {
        return Ok(response(problem.reply()));
    }
    if len > MOST_BODY {
        let text = format!("the body has {len} bytes; {MOST_BODY} are the most");
        return Ok(response(problem(413, &text)));
    }
    let allowed = allowed(head.uri.path());
    busy.store(true, Ordering::Relaxed);
    let done = tokio::task::spawn_blocking(move || {
        answer(&proxies, &registry, head.method.as_str(), head.uri.path(), &bytes)
    });
    let failed = || problem(500, "the request could not be carried out");
    let mut response = response(done.await.unwrap_or_else(|_| failed()));
    busy.store(false, Ordering::Relaxed);
    // RFC 9110 section 15.5.6.
    if let (StatusCode::METHOD_NOT_ALLOWED, Some(methods)) = (response.status(), allowed) {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
    }
    Ok(response)
}

fn problem(status: u16, text: &str) -> Reply {
    Problem::new(status, text).reply()
}

fn response((status, body): Reply) -> Response<Full<Bytes>> {
    let (text, kind) = match body {
        Body::None => (String::new(), "application/json"),
        Body::Json(value) => (format!("{value}\n"), "application/json"),
        Body::Text(text) => (text, MEDIA_TYPE),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
