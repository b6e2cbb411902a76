export { countSandbox, findToDo, type SandboxCounts, type ToDo } from './reads.ts';
export { endAdvance, takeAdvance } from './store.ts';
