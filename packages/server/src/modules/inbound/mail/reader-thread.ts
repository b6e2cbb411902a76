import { serveTasks } from '../../../platform/threads/serve-tasks.ts';
import { JoinedChunks } from '../../../platform/mail/joined-chunks.ts';
import { readHere } from './reader.ts';

Object.assign(globalThis, { Blob: JoinedChunks });

serveTasks({ read: readHere });
