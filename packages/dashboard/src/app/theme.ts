import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core';

/** The one accent. Shade 8 on white and white on it are 6.3 : 1; shade 4 on the dark ground is 7.5 : 1. */
const beacon: MantineColorsTuple = [
  '#e9f6f5',
  '#d2ebe9',
  '#a5d8d4',
  '#79c6c0',
  '#4db3ac',
  '#2f9f98',
  '#1b8d86',
  '#0f7b75',
  '#0b6b67',
  '#07504d',
];

export const theme = createTheme({
  colors: { beacon },
  primaryColor: 'beacon',
  primaryShade: { light: 8, dark: 7 },
  respectReducedMotion: true,
  cursorType: 'pointer',
  defaultRadius: 'sm',
  radius: { xs: '4px', sm: '6px', md: '8px', lg: '12px', xl: '16px' },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
  fontFamily: '"Inter Variable", system-ui, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace',
  headings: { fontFamily: '"Inter Variable", system-ui, sans-serif', fontWeight: '620' },
  shadows: {
    xs: '0 1px 2px rgb(0 0 0 / 6%)',
    sm: '0 1px 3px rgb(0 0 0 / 8%)',
    md: '0 4px 16px rgb(0 0 0 / 10%)',
    lg: '0 8px 24px rgb(0 0 0 / 12%)',
    xl: '0 12px 32px rgb(0 0 0 / 14%)',
  },
  components: {
    // The text below a title is the cause, so it is not dimmed.
    Notification: {
      defaultProps: { closeButtonProps: { 'aria-label': 'Close' } },
      styles: { description: { color: 'var(--mantine-color-text)' } },
    },
    Anchor: { defaultProps: { underline: 'always' } },
    // The text has normal contrast in both themes; only the border and the icon are colored.
    Alert: {
      styles: {
        title: { color: 'var(--mantine-color-text)' },
        message: { color: 'var(--mantine-color-text)' },
      },
    },
    Checkbox: { defaultProps: { radius: 4 } },
    Modal: {
      defaultProps: {
        centered: true,
        overlayProps: { backgroundOpacity: 0.4 },
        closeButtonProps: { 'aria-label': 'Close' },
      },
    },
    // The first item gets the focus, so a menu contains only items.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    // A page has one banner landmark, and a dialog is not one.
    ModalHeader: { defaultProps: { component: 'div' } },
    DrawerHeader: { defaultProps: { component: 'div' } },
    Drawer: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: false } },
  },
});

/** Replacements for Mantine's grays that miss AA, and the project's own surfaces. */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#596067',
    '--mantine-color-placeholder': '#6b7178',
    '--mantine-color-error': '#b42318',
    '--beckon-line': '#e3e6e8',
    '--beckon-sunk': '#f6f7f8',
    '--beckon-raised': '#ffffff',
    '--beckon-hover': '#f1f3f4',
    '--beckon-chosen': '#e9f6f5',
  },
  dark: {
    '--mantine-color-body': '#14171a',
    '--mantine-color-text': '#d8dcdf',
    '--mantine-color-dimmed': '#a0a7ad',
    '--mantine-color-placeholder': '#9aa1a7',
    '--mantine-color-error': '#ff9d96',
    '--beckon-line': '#2b3035',
    '--beckon-sunk': '#0f1214',
    '--beckon-raised': '#1a1e21',
    '--beckon-hover': '#1f2428',
    '--beckon-chosen': '#12302e',
  },
});
