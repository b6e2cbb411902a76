import { serveTasks } from '../../io/threads/serve-tasks.ts';
import { RENDER_TASKS } from './tasks.ts';

serveTasks(RENDER_TASKS);
