import { h } from 'vue';
import { useData, withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import './style.css';

/** Links to the Markdown of the page below its content. */
const AsMarkdown = {
  setup() {
    const { page } = useData();
    return () =>
      h('p', { class: 'as-markdown' }, [
        // Loaded without the router, because it is not a page of the site.
        h('a', { href: withBase(`/${page.value.relativePath}`), target: '_self' }, 'This page as Markdown'),
      ]);
  },
};

/** The dashboard is on the same host as the guide. The router of the guide must not handle the link to it. */
const Beside = {
  setup() {
    const { site } = useData();
    return () =>
      site.value.base === '/guide/'
        ? h('a', { class: 'beside', href: '/', target: '_self' }, 'Dashboard')
        : null;
  },
};

const NotFound = () =>
  h('main', { class: 'not-found' }, [
    h('h1', 'There is no such page'),
    h('p', [
      'It may have moved: ',
      h('a', { href: withBase('/') }, 'what the guide has'),
      ', or look for a word above.',
    ]),
  ]);

export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'doc-footer-before': () => h(AsMarkdown),
      'not-found': () => h(NotFound),
      'nav-bar-content-after': () => h(Beside),
    }),
};
