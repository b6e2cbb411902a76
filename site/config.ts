import type { DefaultTheme, UserConfig } from 'vitepress';
import { PAGES, SECTIONS } from './pages.ts';
import { slugOf } from './slug.ts';

type Markdown = Parameters<NonNullable<NonNullable<UserConfig['markdown']>['config']>>[0];

/** `base`: the path at which the site is served. */
export function siteConfig({
  base,
  outDir,
}: {
  base: string;
  outDir: string;
}): UserConfig<DefaultTheme.Config> {
  return {
    base,
    outDir,
    lang: 'en',
    title: 'Beckon',
    description: 'A lifecycle-email backend for SaaS products that you run yourself',
    head: [['link', { rel: 'icon', href: `${base}beckon.svg` }]],
    metaChunk: true,
    cleanUrls: false,
    markdown: {
      html: false,
      anchor: { slugify: slugOf },
      theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
      config: asItIsWritten,
    },
    themeConfig: {
      logo: '/beckon.svg',
      search: { provider: 'local' },
      outline: { level: [2, 3] },
      sidebar: SECTIONS.map(({ title, pages }) => ({
        text: title,
        items: pages.map(({ path, title: text }) => ({ text, link: `/${path === 'index' ? '' : path}` })),
      })),
    },
    transformPageData(data) {
      const page = PAGES.find(({ path }) => `${path}.md` === data.relativePath);
      if (page) data.title = page.title;
    },
  };
}

/** Keeps `{{ … }}` of templates literal, because Vue would interpret it, and shows a screenshot in the theme of the reader. */
function asItIsWritten(md: Markdown): void {
  const { rules } = md.renderer;
  for (const name of ['text', 'code_inline'] as const) {
    const was = rules[name];
    if (was) rules[name] = (...args) => was(...args).replaceAll('{{', '&#123;&#123;');
  }
  // A column without a name gets no header cell.
  for (const [name, beside] of [
    ['th_open', 1],
    ['th_close', -1],
  ] as const)
    rules[name] = (...[tokens, index, options, , self]) => {
      const [token, words] = [tokens[index], tokens[index + beside]];
      if (token && words?.content === '') token.tag = 'td';
      return self.renderToken(tokens, index, options);
    };
  rules.image = (tokens, index) => {
    const token = tokens[index];
    const source = String(token?.attrGet('src') ?? '');
    const words = md.utils.escapeHtml(token?.content ?? '');
    const imageTag = (src: string, kind: string): string =>
      `<img class="${kind}" src="${md.utils.escapeHtml(src)}" alt="${words}" loading="lazy">`;
    if (!source.endsWith('-light.png')) return imageTag(source, 'picture');
    return (
      imageTag(source, 'shot only-light') +
      imageTag(source.replace(/-light\.png$/, '-dark.png'), 'shot only-dark')
    );
  };
}
