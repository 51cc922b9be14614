//! Task graphs (P-SNC 2.6): a task may run when its children are done.
//!
//! A task names children that are in the graph already, so a graph has no circles by construction.

use std::ops::ControlFlow;

use hardware::NodeId;
use stdx::sync::Arc;

use crate::cancel::CancelToken;
use crate::job::{JobHandle, PipelineJob};
use crate::morsel::{Morsel, MorselBody, MorselContext};
use crate::policy::Policy;
use crate::report::JobReport;
use crate::scheduler::Scheduler;

stdx::id! {
    /// A task of a graph, by the order in which it was added.
    TaskId(u32)
}

/// Tasks and what each of them waits for.
#[derive(Default)]
pub struct TaskGraph {
    tasks: Vec<Node>,
}

struct Node {
    node: Option<NodeId>,
    children: Vec<TaskId>,
    body: Arc<dyn MorselBody>,
}

struct Single<F>(F);

impl<F: Fn(&MorselContext) -> ControlFlow<()> + Send + Sync> MorselBody for Single<F> {
    fn run(&self, context: &MorselContext, _: Morsel) -> ControlFlow<()> {
        (self.0)(context)
    }
}

impl TaskGraph {
    /// A graph without tasks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a task that prefers a node, or none, and runs after its children; `Break` ends it like a return. Panics when a child is not in the graph.
    pub fn add(
        &mut self,
        node: Option<NodeId>,
        children: &[TaskId],
        body: impl Fn(&MorselContext) -> ControlFlow<()> + Send + Sync + 'static,
    ) -> TaskId {
        let id = TaskId::from_index(self.tasks.len());
        assert!(children.iter().all(|it| *it < id), "a task waits for one that is not there yet");
        let children = children.to_vec();
        let body: Box<dyn MorselBody> = Box::new(Single(body));
        self.tasks.push(Node { node, children, body: Arc::from(body) });
        id
    }

    /// Tasks in the graph.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there is no task.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }
}

impl Scheduler {
    /// Runs a graph and waits for its last task. A task that panics cancels all that wait for it. The reports come in the
    /// order in which the tasks were added.
    pub fn run_graph(
        &self,
        graph: TaskGraph,
        statement: u64,
        policy: &Policy,
        cancel: &CancelToken,
    ) -> Vec<JobReport> {
        let mut handles: Vec<JobHandle> = Vec::with_capacity(graph.tasks.len());
        for task in graph.tasks {
            let mut job = PipelineJob::task(task.node, task.body).with_policy(policy);
            job.statement = statement;
            job.cancel = cancel.clone();
            job.after = task.children.iter().map(|it| handles[it.index()].clone()).collect();
            handles.push(self.submit(job));
        }
        handles.iter().map(|it| self.wait(it)).collect()
    }
}
