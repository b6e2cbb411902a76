/** Runs the product as `serve` does, with failpoints that can be armed. See `verification/faults/inject/serve-armed.ts`. */
const { serveArmed } = await import('../inject/serve-armed.ts');
await serveArmed();
