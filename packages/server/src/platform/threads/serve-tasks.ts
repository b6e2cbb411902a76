import { parentPort } from 'node:worker_threads';
import { Fault, type FaultOptions } from '../fault.ts';

/** By name. Inputs and results are copied between threads. */
export type Tasks = Record<string, (input: never) => unknown>;

export type TaskRequest = { id: number; name: string; input: unknown };
export type TaskResponse =
  | { ready: true }
  | { id: number; value: unknown }
  | { id: number; fault: { code: Fault['code'] } & Pick<FaultOptions, 'details'> }
  | { id: number; error: unknown };

/** Runs tasks in a worker thread, for the pool that started it. A `Fault` is passed to the pool as a `Fault`. */
export function serveTasks(tasks: Tasks): void {
  const port = parentPort;
  if (!port) throw new Error('tasks are served in a worker thread only');
  const reply = (message: TaskResponse): void => port.postMessage(message);
  port.on('message', ({ id, name, input }: TaskRequest) => {
    void run(tasks, name, input).then(
      (value) => reply({ id, value }),
      (error: unknown) =>
        reply(
          error instanceof Fault
            ? { id, fault: { code: error.code, details: error.details } }
            : { id, error },
        ),
    );
  });
  reply({ ready: true });
}

async function run(tasks: Tasks, name: string, input: unknown): Promise<unknown> {
  const task = tasks[name] as ((input: unknown) => unknown) | undefined;
  if (!task) throw new Error(`there is no task ${name}`);
  return task(input);
}
