export { mountSandbox, type SandboxDeps } from './mount-sandbox.ts';
