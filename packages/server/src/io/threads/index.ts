export { createWorkerPool, type Running, type WorkerPool, type WorkerPoolOptions } from './worker-pool.ts';
export { serveTasks, type Tasks } from './serve-tasks.ts';
export { TaskStopped, type TaskTrouble } from './task-stopped.ts';
