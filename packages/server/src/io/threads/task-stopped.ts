/**
 * Why a task has no result.
 *
 *   deadline, memory, crashed   the task itself took too much, and would again
 *   busy, closed                the pool did not run it; another time it may
 */
export type TaskTrouble = 'deadline' | 'memory' | 'crashed' | 'busy' | 'closed';

export class TaskStopped extends Error {
  readonly trouble: TaskTrouble;

  constructor(trouble: TaskTrouble, cause?: unknown) {
    super(`a task in a worker thread was stopped: ${trouble}`, { cause });
    this.name = 'TaskStopped';
    this.trouble = trouble;
  }

  /** Whether the same input would be stopped again. */
  get isForGood(): boolean {
    return this.trouble !== 'busy' && this.trouble !== 'closed';
  }
}
