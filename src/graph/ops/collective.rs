//! What replicas do together, and checks of numbers.

use super::{Op, argument};
use crate::core::Result;
use crate::graph::Tensor;

/// The sum of `x` over all replicas, or over the replicas of each group. TensorFlow: `tpu.cross_replica_sum`.
///
/// Replicas are summed in their order, so the result has the same bits for any number of worker threads. The gradient
/// of the sum is the sum of the gradients.
///
/// # Errors
/// `GRAPH004` if `x` is not floating point, `GRAPH006` if the groups are not equal in size or do not hold each replica
/// once, or where no TPU is involved.
pub fn cross_replica_sum(x: &Tensor, groups: Option<Vec<Vec<usize>>>) -> Result<Tensor> {
    let graph = x.graph();
    let Some(replicas) = graph.replicas() else {
        return Err(argument(
            "CrossReplicaSum",
            "there are no replicas outside a TPU, and CPUs have no kernel for it",
            "use `CrossShardOptimizer` and `cross_replica_sum` only where `params.use_tpu()` is true",
        ));
    };
    if let Some(groups) = &groups {
        check_groups(groups, replicas)?;
    }
    graph.add(Op::CrossReplicaSum { groups }, "CrossReplicaSum", &[x])
}

fn check_groups(groups: &[Vec<usize>], replicas: usize) -> Result<()> {
    let mut members: Vec<usize> = groups.iter().flatten().copied().collect();
    members.sort_unstable();
    let complete = members.iter().copied().eq(0..replicas);
    let equal = groups.windows(2).all(|pair| pair[0].len() == pair[1].len());
    if complete && equal && !groups.is_empty() {
        return Ok(());
    }
    let problem =
        format!("group_assignment {groups:?} must hold each of the {replicas} replicas once, in equal groups");
    Err(argument("CrossReplicaSum", problem, format!("list 0 to {} in groups of one size", replicas.saturating_sub(1))))
}

/// `x` itself; a run fails with `message` where it holds NaN or infinity. TensorFlow: `tf.check_numerics`.
///
/// # Errors
/// `GRAPH004` if `x` is not floating point.
pub fn check_numerics(x: &Tensor, message: &str) -> Result<Tensor> {
    x.graph.add(Op::CheckNumerics { message: message.to_string() }, "CheckNumerics", &[x])
}
