// Style sheets are imported only for the bundler; they have no value.
declare module "*.css";
