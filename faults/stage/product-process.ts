/** The product as it is run by `serve`, with somebody who listens how far it has come: see `faults/inject/serve-armed.ts`. */
const { serveArmed } = await import('../inject/serve-armed.ts');
await serveArmed();
