import { serveTasks } from '../../../platform/threads/serve-tasks.ts';
import { RENDER_TASKS } from './tasks.ts';

serveTasks(RENDER_TASKS);
