export { createRenderer, isRenderBusy, isRenderFailure, type Renderer } from './renderer.ts';
export type { LetterToRender, RenderedEmail, RenderTasks } from './tasks.ts';
