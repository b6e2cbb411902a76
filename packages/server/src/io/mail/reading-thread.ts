import { serveTasks } from '../threads/serve-tasks.ts';
import { JoinedChunks } from './joined-chunks.ts';
import { readHere } from './read-inbound.ts';

Object.assign(globalThis, { Blob: JoinedChunks });

serveTasks({ read: readHere });
