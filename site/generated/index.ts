import { apiEndpoints, apiGuide, apiLimits, canonicalEvents, errorCodes } from './api.ts';
import { assistantTools, customerCommands, operatorCommands } from './commands.ts';
import { projectSettings, settings } from './settings.ts';
import { draftReasons, gateReasons, ruleReasons, suppressionReasons } from './why.ts';

/** What the program knows better than whoever writes about it, by the name that stands in the page. */
const PARTS: Record<string, () => string> = {
  'api-guide': apiGuide,
  'api-endpoints': apiEndpoints,
  'api-limits': apiLimits,
  'canonical-events': canonicalEvents,
  'error-codes': errorCodes,
  'cli-commands': customerCommands,
  'mcp-tools': assistantTools,
  'operator-commands': operatorCommands,
  settings,
  'project-settings': projectSettings,
  'rule-reasons': ruleReasons,
  'gate-reasons': gateReasons,
  'draft-reasons': draftReasons,
  'suppression-reasons': suppressionReasons,
};

const PART = /(?<=<!-- begin ([a-z-]+) -->\n)[^]*?(?=<!-- end \1 -->)/g;

/** The page with everything between `<!-- begin x -->` and `<!-- end x -->` as the program says it now. */
export function filled(markdown: string): string {
  return markdown.replaceAll(PART, (_was, name: string) => {
    const part = PARTS[name];
    if (!part) throw new Error(`nothing is called ${name}`);
    return `\n${part()}\n\n`;
  });
}
