import { serveTasks } from '../threads/index.ts';
import { readHere } from './read-inbound.ts';

serveTasks({ read: readHere });
