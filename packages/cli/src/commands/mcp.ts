import type { RouteKey } from '@beckon/contract/dashboard';
import { custom } from '../framework/declare.ts';
import { TOOLS } from '../mcp/tools.ts';

const ROUTES: readonly RouteKey[] = ['GET /token', ...TOOLS.flatMap(({ command }) => command.routes)];

export const mcp = custom('mcp', {
  help: 'Run an MCP (Model Context Protocol) server on stdin and stdout, for AI assistants',
  routes: ROUTES,
  isStream: true,
  async run(context) {
    await context.project();
    // Loaded here, because only this command needs it.
    const { serveMcp } = await import('../mcp/serve.ts');
    await serveMcp(context);
  },
});
