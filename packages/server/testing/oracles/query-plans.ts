/** One node of `EXPLAIN (FORMAT JSON)`, with the fields that tests use. */
export type PlanNode = {
  'Node Type': string;
  'Join Type'?: string;
  Filter?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Join Filter'?: number;
  Plans?: PlanNode[];
};

/** Returns the nodes of a plan in one list, outermost first. */
export function planNodes(plan: PlanNode | undefined): PlanNode[] {
  return plan ? [plan, ...(plan.Plans ?? []).flatMap(planNodes)] : [];
}

/** Counts the rows that all nodes returned or filtered out, over all loops. */
export function rowsProcessed(nodes: readonly PlanNode[]): number {
  return nodes.reduce((sum, node) => {
    const perLoop =
      (node['Actual Rows'] ?? 0) +
      (node['Rows Removed by Filter'] ?? 0) +
      (node['Rows Removed by Join Filter'] ?? 0);
    return sum + perLoop * (node['Actual Loops'] ?? 1);
  }, 0);
}
