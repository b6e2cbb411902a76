import { apiGuide, apiHeaders, apiLimits, canonicalEvents, errorCodes } from './api.ts';
import { assistantTools, commandLineCommands, serverCommands } from './commands.ts';
import { apiEndpoints } from './endpoints.ts';
import { projectSettings, settings } from './settings.ts';
import { draftReasons, gateReasons, ruleReasons, suppressionReasons } from './why.ts';

/** Generated parts of pages, by the name in their begin and end markers. */
const PARTS: Record<string, () => string> = {
  'api-guide': apiGuide,
  'api-endpoints': apiEndpoints,
  'api-headers': apiHeaders,
  'api-limits': apiLimits,
  'canonical-events': canonicalEvents,
  'error-codes': errorCodes,
  'cli-commands': commandLineCommands,
  'mcp-tools': assistantTools,
  'server-commands': serverCommands,
  settings,
  'project-settings': projectSettings,
  'rule-reasons': ruleReasons,
  'gate-reasons': gateReasons,
  'draft-reasons': draftReasons,
  'suppression-reasons': suppressionReasons,
};

const PART = /(?<=<!-- begin ([a-z-]+) -->\n)[^]*?(?=<!-- end \1 -->)/g;

/** Replaces everything between `<!-- begin x -->` and `<!-- end x -->` with the generated part. */
export function filled(markdown: string): string {
  return markdown.replaceAll(PART, (_was, name: string) => {
    const part = PARTS[name];
    if (!part) throw new Error(`unknown generated part: ${name}`);
    return `\n${part()}\n\n`;
  });
}
