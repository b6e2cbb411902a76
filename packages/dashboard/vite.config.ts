import react from '@vitejs/plugin-react';
import { defineConfig, type ProxyOptions } from 'vite';

/**
 * A module of at least this many screens, dialogs and panels goes into one common file. Otherwise it would be about fifty files; a first
 * page loads thirty.
 */
const MOST_SCREENS = 24;
/** An icon takes 260 bytes in its own file, and 60 among others. */
const FEW_SCREENS = 3;

/**
 * Menus and selects (33 kB), and dialogs (8 kB): most screens have one of them, but not all at first. A screen loads only those that it
 * has. `KIT` has what they and everything else use, so that none of them contains a part of another one.
 */
const KIT =
  /@mantine\/(?:hooks|store)|@mantine\/core\/esm\/(?:core|components\/(?:Portal|VisuallyHidden|FocusTrap|Paper|Input|InlineInput|Overlay|Transition|CloseButton)\/)|tslib|src\/parts\/(?:later|use-focus-back|notices|time|ticking|zone|ahead|dialog-foot|error-box)/;
const FLOATING = /@floating-ui|@mantine\/core\/esm\/components\/(?:Popover|Combobox|ScrollArea|Tooltip)\//;
const DIALOG =
  /@mantine\/core\/esm\/components\/(?:ModalBase|Modal|Drawer)\/|react-remove-scroll|use-sidecar|react-style-singleton|use-callback-ref/;
const SMALL_TABLE = /@mantine\/core\/esm\/components\/Table\//;

/** Proxies API requests during development, so that the server accepts them like those of its own page. */
function toServer(): ProxyOptions {
  const target = `http://localhost:${process.env['PORT'] ?? 8080}`;
  return {
    target,
    changeOrigin: true,
    configure: (proxy) => proxy.on('proxyReq', (request) => request.setHeader('origin', target)),
  };
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  server: { port: 5173, strictPort: true, proxy: { '/api/dashboard': toServer() } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    manifest: true,
    sourcemap: false,
    // Inlining would create inline scripts and fonts as data URLs, and the content security policy of the page blocks both.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'icons', test: /lucide-react/, minShareCount: FEW_SCREENS, priority: 7 },
            { name: 'base', tags: ['$initial'], priority: 6 },
            { name: 'kit', test: KIT, minShareCount: MOST_SCREENS, priority: 5 },
            { name: 'floating', test: FLOATING, priority: 4 },
            { name: 'dialog', test: DIALOG, priority: 3 },
            { name: 'small-table', test: SMALL_TABLE, priority: 2 },
            { name: 'common', minShareCount: MOST_SCREENS, priority: 1 },
          ],
        },
      },
    },
  },
});
