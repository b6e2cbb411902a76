/**
 * The reason why a task has no result.
 *
 * - `deadline`, `memory`, `crashed`: the task exceeded its limits or ended its thread, and would do so again.
 * - `busy`, `closed`: the pool did not run it; a retry may succeed.
 */
export type TaskTrouble = 'deadline' | 'memory' | 'crashed' | 'busy' | 'closed';

export class TaskStopped extends Error {
  readonly trouble: TaskTrouble;

  constructor(trouble: TaskTrouble, cause?: unknown) {
    super(`a task in a worker thread was stopped: ${trouble}`, { cause });
    this.name = 'TaskStopped';
    this.trouble = trouble;
  }

  /** Returns whether the same input would be stopped again. */
  get isForGood(): boolean {
    return this.trouble !== 'busy' && this.trouble !== 'closed';
  }
}
