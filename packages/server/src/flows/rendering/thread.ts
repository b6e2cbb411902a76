import { serveTasks } from '../../io/threads/index.ts';
import { RENDER_TASKS } from './tasks.ts';

serveTasks(RENDER_TASKS);
